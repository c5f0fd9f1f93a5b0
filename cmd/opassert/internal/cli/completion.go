package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"text/template"
)

var completionCommand = command{
	name:    "completion",
	args:    "bash|zsh|fish",
	summary: "print a script that completes commands and flags in a shell",
	about: `
bash: source <(opassert completion bash)
zsh:  source <(opassert completion zsh), after compinit
fish: opassert completion fish | source`,
	run: runCompletion,
}

func runCompletion(inv *invocation) error {
	if err := inv.parse(1, 1); err != nil {
		return err
	}
	script, ok := completions[inv.flags.Arg(0)]
	if !ok {
		return usagef("unknown shell %q: the shells are bash, zsh and fish", inv.flags.Arg(0))
	}
	return script.Execute(inv.stdout, completable())
}

// A completableCommand is a command with its flags and arguments.
type completableCommand struct {
	Name, Summary string
	Flags         []completableFlag
	Words         []string // arguments
}

type completableFlag struct {
	Name, Usage string
	Value       string // what it takes: "file", "identity|content"; "" for nothing
}

// Values returns the values of a flag that has few.
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
	return all
}

// words are the arguments that a command names: "bash|zsh|fish".
func words(args string) []string {
	if args == strings.ToLower(args) && !strings.ContainsAny(args, " .[") && args != "" {
		return strings.Split(args, "|")
	}
	return nil
}

// flagsOf returns the flags of a command: asked for its help, a command defines
// them and does nothing.
func flagsOf(c command) *flag.FlagSet {
	inv := newInvocation(c, []string{"-h"}, io.Discard, io.Discard)
	inv.run(inv)
	return inv.flags
}

var completions = map[string]*template.Template{
	"bash": completionScript(`# bash completion for opassert
_opassert() {
  local cur=${COMP_WORDS[COMP_CWORD]} words= files=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{{range .}}{{.Name}} {{end}}help"
  else
    case "${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-1]}" in
{{- range $c := .}}{{range .Flags}}{{if .Values}}
    "{{$c.Name}} -{{.Name}}") words="{{.Values}}" ;;
{{- end}}{{end}}
{{- if .Words}}
    "{{.Name}} "[!-]*) words="{{range .Flags}}-{{.Name}} {{end}}{{range .Words}}{{.}} {{end}}" ;;
{{- end}}
    "{{.Name}} "*) words="{{range .Flags}}-{{.Name}} {{end}}{{range .Words}}{{.}} {{end}}" files=yes ;;
{{- end}}
    "help "*) words="{{range .}}{{.Name}} {{end}}cases checks config" ;;
    esac
    [ "$files" ] && [ "${cur#-}" = "$cur" ] && COMPREPLY=($(compgen -f -- "$cur"))
  fi
  COMPREPLY+=($(compgen -W "$words" -- "$cur"))
}
complete -o filenames -F _opassert opassert
`),
	"zsh": completionScript(`#compdef opassert
_opassert() {
  local -a commands
  commands=(
{{- range .}}
    {{quote (print .Name ":" (colon .Summary))}}
{{- end}}
    'help:print the help of a command'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case ${words[2]} in
{{- range .}}
  {{.Name}}) shift words; (( CURRENT-- )); _arguments{{range .Flags}} {{quote (print "*-" .Name "[" (bracket .Usage) "]" (takes .))}}{{end}} {{if .Words}}'*: :({{range .Words}}{{.}} {{end}})'{{else}}'*:file:_files'{{end}} ;;
{{- end}}
  help) commands+=('cases:the form of a file of cases' 'checks:every check' 'config:the form of opassert.yaml'); _describe command commands ;;
  esac
}
compdef _opassert opassert
`),
	"fish": completionScript(`# fish completion for opassert
complete -c opassert -e
{{- range .}}
complete -c opassert -n __fish_use_subcommand -f -a {{.Name}} -d {{quote .Summary}}
{{- end}}
complete -c opassert -n __fish_use_subcommand -f -a help -d 'print the help of a command'
complete -c opassert -n '__fish_seen_subcommand_from help' -f -a '{{range .}}{{.Name}} {{end}}cases checks config'
{{- range $c := .}}{{range .Flags}}
complete -c opassert -n '__fish_seen_subcommand_from {{$c.Name}}' -o {{.Name}}{{if .Values}} -xa {{quote .Values}}{{else if .Value}} -r{{end}} -d {{quote .Usage}}
{{- end}}{{range .Words}}
complete -c opassert -n '__fish_seen_subcommand_from {{$c.Name}}' -f -a {{.}}
{{- end}}{{end}}
`),
}

func completionScript(text string) *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"quote":   func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
		"colon":   strings.NewReplacer(":", `\:`).Replace,
		"bracket": strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace,
		"takes":   takes,
	}).Parse(text))
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
