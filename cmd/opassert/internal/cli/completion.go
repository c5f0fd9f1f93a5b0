package cli

import (
	"embed"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/template"
)

func runCompletion(inv *invocation) error {
	if err := inv.parse(1, 1); err != nil {
		return err
	}
	script, err := completionScript(inv.flags.Arg(0))
	if err != nil {
		return usagef("unknown shell %q: the shells are bash, zsh and fish", inv.flags.Arg(0))
	}
	return script.Execute(inv.stdout, completable())
}

type completableCommand struct {
	Name, Summary string
	Flags         []completableFlag
	Words         []string // arguments
}

type completableFlag struct {
	Name, Usage string
	Value       string // its argument: "file", "identity|content"; "" for none
}

// Values returns the values of a flag with an enumeration.
func (f completableFlag) Values() string {
	if !strings.Contains(f.Value, "|") {
		return ""
	}
	return strings.ReplaceAll(f.Value, "|", " ")
}

func completable() []completableCommand {
	var all []completableCommand
	for _, c := range commands {
		one := completableCommand{Name: c.name, Summary: c.summary, Words: words(c.args)}
		flagsOf(c).VisitAll(func(f *flag.Flag) {
			value, usage := flag.UnquoteUsage(f)
			usage, _, _ = strings.Cut(usage, "\n")
			one.Flags = append(one.Flags, completableFlag{f.Name, usage, value})
		})
		all = append(all, one)
	}
	return append(all, completableCommand{
		Name: "help", Summary: "print the help of a command, or a topic", Words: append(commandNames(), topics...),
	})
}

// words are the possible arguments of a command: "bash|zsh|fish".
func words(args string) []string {
	if args == strings.ToLower(args) && !strings.ContainsAny(args, " .[") && args != "" {
		return strings.Split(args, "|")
	}
	return nil
}

// flagsOf returns the flags of a command: with -h a command defines them and does nothing else.
func flagsOf(c command) *flag.FlagSet {
	inv := newInvocation(c, []string{"-h"}, io.Discard, io.Discard)
	inv.run(inv)
	return inv.flags
}

//go:embed completion
var completions embed.FS

// completionScript returns the script of a shell, or an error for an unknown one.
func completionScript(shell string) (*template.Template, error) {
	text, err := completions.ReadFile("completion/" + shell + ".tmpl")
	return template.Must(template.New("").Funcs(template.FuncMap{
		"quote":   func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
		"colon":   strings.NewReplacer(":", `\:`).Replace,
		"bracket": strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace,
		"takes":   takes,
	}).Parse(string(text))), err
}

// takes returns the argument of a flag in zsh's notation.
func takes(f completableFlag) string {
	if f.Value == "" {
		return ""
	}
	if values := f.Values(); values != "" {
		return ":value:(" + values + ")"
	}
	return fmt.Sprintf(":%s:%s", f.Value, map[bool]string{true: "_files"}[f.Value == "file"])
}
