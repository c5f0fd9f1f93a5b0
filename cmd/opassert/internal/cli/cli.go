// Package cli is the opassert command: one file for each subcommand. Results go to stdout, messages to stderr; the exit
// status is 0 without findings, 1 with findings, 2 for usage and failures.
package cli

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"go/scanner"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/docs/reference"
	"github.com/opassert/opassert/gen/vet"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/subprocess"
	"github.com/opassert/opassert/internal/yamlfile"
)

type command struct {
	name    string
	args    string // the arguments after the flags, for the usage line
	summary string // one line
	program bool   // its arguments are a program, which uses the standard streams
	run     func(*invocation) error
}

var commands []command

func init() { // set in init, as commands use the list for their settings
	commands = []command{
		{name: "init", run: runInit, summary: "write a module in which a Go library is checked, and its own stays as it is"},
		{name: "gen", run: runGen, summary: "generate Go wrappers that check every call of your kernels, or of libtorch"},
		{name: "list", run: runList, summary: "list the ops of a schema file, with their kinds"},
		{name: "explain", args: "OP|CODE|-", run: runExplain,
			summary: "show the promises of an op's schema and how they are checked; describe a check or a failed assert"},
		{name: "plan", run: runPlan, summary: "show which checks each op gets"},
		{name: "lint", run: runLint, summary: "find errors in schemas and registrations; no kernel is called"},
		{name: "vet", args: "[packages]", run: runVet,
			summary: "find calls of kernels that bypass their checks, and marks without effect"},
		{name: "selftest", args: "[FAULT]", run: runSelftest,
			summary: "prove every check: planted faults are reported, healthy kernels are not"},
		{name: "check", run: runCheck, summary: "run kernels and check every call against its schema"},
		{name: "trace", args: "FILE", run: runTrace,
			summary: "find the line of a PyTorch log where an object was not preserved"},
		{name: "run", args: "-- PROGRAM [arguments]", program: true, run: runRun,
			summary: "check every op that a program calls against its schema"},
		{name: "merge", args: "A.json B.json ...", run: runMerge, summary: "merge the reports of shards into one"},
		{name: "doctor", run: runDoctor,
			summary: "print which tools and libraries are found, and how to get the missing ones"},
		{name: "version", run: runVersion, summary: "print the version, and which libtorch is found"},
		{name: "completion", args: "bash|zsh|fish", run: runCompletion,
			summary: "print a script that completes commands and flags in a shell"},
	}
}

// Main runs the command line and returns the exit status. Where a signal ended a watched program, or a
// compilation, it ends this process.
func Main(args []string, stdout, stderr io.Writer) int {
	status := escaped(args, stdout, stderr)
	if status < 0 {
		subprocess.Raise(syscall.Signal(-status))
		return 128 - status
	}
	return status
}

// escaped runs the command line and escapes what it writes.
func escaped(args []string, stdout, stderr io.Writer) int {
	if vet.IsUnit(args) {
		vet.Unit() // as a tool of go vet
	}
	own := streams{stdout, stderr}
	out, talk := printable.NewWriter(stdout), printable.NewWriter(stderr)
	defer func() { out.Flush(); talk.Flush() }()
	return dispatch(args, own, out, &argumentWriter{talk, argumentNames(args)})
}

// An argumentWriter writes messages, with each argument that system errors repeat in one line.
type argumentWriter struct {
	w     io.Writer
	names *strings.Replacer
}

func (a *argumentWriter) Write(text []byte) (int, error) {
	_, err := a.names.WriteString(a.w, string(text))
	return len(text), err
}

// argumentNames replaces names in arguments, and their folders, that have line breaks.
func argumentNames(args []string) *strings.Replacer {
	var names []string
	separates := func(r rune) bool { return strings.ContainsRune("/=,", r) }
	for _, name := range strings.FieldsFunc(strings.Join(args, "/"), separates) {
		if line := printable.Line(name); line != name {
			names = append(names, name, line)
		}
	}
	return strings.NewReplacer(names...)
}

// dispatch runs the command line. It escapes all foreign text.
func dispatch(args []string, own streams, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return 2
	}
	name := args[0]
	switch {
	case isHelp(name):
		return help(args[1:], own, stdout, stderr)
	case name == "-version" || name == "--version":
		name = "version"
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if i < 0 {
		near := yamlfile.Suggest(name, commandNames())
		fmt.Fprintf(stderr, "opassert: no command %q%s; run opassert -h for the list\n", name, near)
		return 2
	}
	inv := newInvocation(commands[i], args[1:], stdout, stderr)
	inv.own = own
	return inv.status(inv.run(inv))
}

func commandNames() []string { return slicesx.Map(commands, func(c command) string { return c.name }) }

// topics are the pages that help prints.
var topics = []string{"cases", "checks", "config", "devices", "json", "memory"}

func usage(w io.Writer) {
	fmt.Fprint(w, helpText("help"))
	for _, c := range commands {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprintf(w, `
opassert COMMAND -h   its flags          opassert help TOPIC   %s
Exit status: 0 no errors, 1 errors, 2 usage or failure.
`, strings.Join(topics, ", "))
}

func isHelp(word string) bool {
	return slices.Contains([]string{"-h", "--h", "-help", "--help", "help"}, word)
}

//go:embed help
var helpTexts embed.FS

// helpText returns the text of help/NAME.txt, about a command.
func helpText(name string) string {
	text, _ := helpTexts.ReadFile("help/" + name + ".txt")
	return string(text)
}

// help is "opassert help [COMMAND|TOPIC]".
func help(args []string, own streams, stdout, stderr io.Writer) int {
	if len(args) == 0 || isHelp(args[0]) {
		usage(stdout)
		return 0
	}
	if slices.Contains(topics, args[0]) {
		page, _ := reference.Pages.ReadFile(args[0] + ".md")
		stdout.Write(page)
		return 0
	}
	return dispatch([]string{args[0], "-h"}, own, stdout, stderr)
}

type invocation struct {
	command
	flags          *flag.FlagSet
	raw            []string
	stdout, stderr io.Writer // which escape bytes that are not printable
	own            streams
	uses           []use
	settings       string          // the path of opassert.yaml, "" without one
	replaced       map[string]bool // the flags that the command line and opassert.yaml set
	common         map[string]bool // the flags that opassert.yaml sets for all commands
}

// streams are the process's, for a program and a terminal.
type streams struct{ stdout, stderr io.Writer }

func newInvocation(c command, raw []string, stdout, stderr io.Writer) *invocation {
	inv := &invocation{command: c, raw: raw, stdout: stdout, stderr: stderr}
	inv.flags = flag.NewFlagSet("opassert "+c.name, flag.ContinueOnError)
	inv.flags.SetOutput(io.Discard)
	return inv
}

// Errors that only set the exit status.
var (
	errFindings = errors.New("there are findings") // they are printed already
	errHelp     = errors.New("help was asked for")
)

// A findingsError is errFindings with a reason to print.
type findingsError struct{ text string }

func (e *findingsError) Error() string { return e.text }

// An exitStatus is the exit status of a command that did not fail, or minus the number of a signal.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// parse reads the flags, which may follow arguments unless these are a program, and checks the number of arguments.
func (inv *invocation) parse(minArgs, maxArgs int) error {
	inv.flags.VisitAll(func(f *flag.Flag) {
		if row := rowOf(inv.name, f.Name); row != nil {
			f.Usage = row.help
		}
	})
	var args []string
	for rest := inv.raw; ; rest = rest[1:] {
		if err := inv.flags.Parse(rest); errors.Is(err, flag.ErrHelp) {
			return errHelp
		} else if err != nil {
			return usagef("%v", err)
		}
		if rest = inv.flags.Args(); len(rest) == 0 || inv.program {
			inv.flags.Parse(slices.Concat([]string{"--"}, args, rest))
			break
		}
		args = append(args, rest[0])
	}
	switch {
	case inv.flags.NArg() < minArgs:
		return usagef("want %s", inv.args)
	case inv.flags.NArg() > maxArgs:
		if inv.flags.Lookup("json") != nil && strings.HasSuffix(inv.flags.Arg(maxArgs), ".json") {
			return usagef("unknown argument %q: -json writes to standard output, so: -json > %[1]s", inv.flags.Arg(maxArgs))
		}
		return usagef("unknown argument %q", inv.flags.Arg(maxArgs))
	}
	return inv.ready()
}

// ready completes the parsed command line, and claims the files it names.
func (inv *invocation) ready() error {
	if err := inv.applyConfig(); err != nil {
		return err
	}
	if f := inv.flags.Lookup("libtorch"); f != nil && len(*f.Value.(*repeated)) > 1 {
		return usagef("want one -libtorch: check each alone, the first with -baseline FILE -update, " +
			"and the next one with -baseline FILE, which shows what is new and what is gone")
	}
	return inv.claimFiles(inv.flags.Args())
}

// status prints how the command ended and returns its exit status.
func (inv *invocation) status(err error) int {
	var exit exitStatus
	var bad *usageError
	var found *findingsError
	var list scanner.ErrorList
	var interrupted *compile.Interrupted
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	case errors.Is(err, errFindings):
		return 1
	case errors.Is(err, errHelp):
		inv.help(inv.stdout)
		return 0
	case errors.As(err, &found):
		fmt.Fprintf(inv.stderr, "opassert %s: %v\n", inv.name, err)
		return 1
	case errors.As(err, &bad):
		fmt.Fprintf(inv.stderr, "opassert %s: %v; run opassert %s -h\n", inv.name, err, inv.name)
	case errors.As(err, &list):
		inv.printErrors(list)
	default:
		fmt.Fprintf(inv.stderr, "opassert %s: %v\n", inv.name, err)
		if s, ok := syscall.Signal(0), errors.As(err, &interrupted); ok {
			s, _ = interrupted.Signal.(syscall.Signal)
			return -int(s)
		}
	}
	return 2
}

func (inv *invocation) printErrors(list scanner.ErrorList) {
	for _, e := range list {
		printable.Printf(inv.stderr, "%v\n", e)
	}
}

// line prints a line of results.
func (inv *invocation) line(format string, args ...any) {
	printable.Printf(inv.stdout, format+"\n", args...)
}

func (inv *invocation) help(w io.Writer) {
	line := []string{"opassert", inv.name, "[flags]"}
	if inv.args != "" {
		line = append(line, inv.args)
	}
	fmt.Fprintf(w, "%s: %s\nUsage: %s\n\n%s", inv.name, inv.summary, strings.Join(line, " "), helpText(inv.name))
	if hasFlags(inv.flags) {
		fmt.Fprintln(w)
		printFlags(w, inv.name, inv.flags)
	}
}

func (inv *invocation) json(v any) error { return printable.JSON(inv.stdout, v, " ") }

// newJSONFlag returns the value of a flag for JSON on standard output.
func newJSONFlag(f *flag.FlagSet) *bool {
	j := new(bool)
	f.BoolFunc("json", "", func(s string) (err error) {
		if *j, err = strconv.ParseBool(s); err != nil {
			return fmt.Errorf("it writes to standard output, so: -json > %s", s)
		}
		return nil
	})
	return j
}

// repeated is a flag that may be given several times.
type repeated []string

func (r *repeated) String() string     { return strings.Join(*r, ", ") }
func (r *repeated) Set(s string) error { *r = append(*r, s); return nil }

// one returns the single value, or "".
func (r *repeated) one() string {
	if len(*r) == 1 {
		return (*r)[0]
	}
	return ""
}

// number reads a number without a sign, and returns -1 for other text.
func number(text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
}

func isWorker() bool { return os.Getenv(suite.WorkerVariable) != "" }
