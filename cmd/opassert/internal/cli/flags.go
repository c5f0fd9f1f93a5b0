package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
	"github.com/opassert/opassert/gen/plan"
)

// A flagRow is the line of help of a flag, of each command that has it. The name of one that
// means something else for a command begins with the command: "run json".
type flagRow struct{ group, name, help string }

// The groups of flags, in their order.
const (
	what    = "What"
	where   = "Where"
	howMuch = "How much"
	output  = "Output"
	ofCI    = "CI"
)

var flagRows = []flagRow{
	{what, "module", "the ops of a Python `module`, and of libraries that it loads; several with commas"},
	{what, "lib", "the ops of a shared `library`; may be repeated"},
	{what, "engine",
		"`" + strings.Join(checkup.Engines(), "|") + "` (default: go in a Go module with generated packages)"},
	{what, "gen engine", "what the wrappers call: `go|libtorch`; go: the kernels in a Go package"},
	{what, "op", "an op `name`, or a pattern such as 'aten::*conv*'; may be repeated (default: all)"},
	{what, "cases", "a `file` with arguments of ops: opassert help cases"},
	{what, "case", "run only the case of this `number`, as a report names it"},
	{what, "schema", "a `file` of schemas in the form of native_functions.yaml (default: the PyTorch found)"},
	{what, "check schema", "a `file` with schemas that replace the engine's own"},
	{what, "init schema", "a schema `file` of yours (default: one is written, with the op of the function)"},
	{what, "init package", "the `folder` of a package of the library (default: .)"},
	{what, "func", "the `function` to begin with, or Type.Method (default: all whose types fit)"},
	{what, "clone", "the `folder` of a clone of opassert to build, instead of this version"},
	{what, "tags", "the tags `file` (default: tags.yaml beside the schema, if there is one)"},
	{what, "pytorch-schema", "the `file` with schemas that the schema file only names (default: the PyTorch found)"},
	{what, "version", "the PyTorch `version` whose rules apply, unless the schema file has them"},
	{what, "kernels", "the `folder` of the Go package with the kernels"},
	{what, "tensor", "the Go `type` of a tensor, as *import/path.Name (default: found from the kernels)"},
	{what, "packages", "a `pattern` of the go command, unless arguments name packages; may be repeated"},
	{what, "vet tags", "a `list` of build tags besides opassert, with commas"},
	{what, "ops", "watch ops; -ops=false leaves -preserve alone"},
	{what, "preserve", "watch the Python objects of tensors and storages"},
	{what, "child", "watch `PID:FILE`, a process that waits, as pytest --opassert and opassert.watch() do"},
	{what, "torch", "the `version` of the PyTorch that printed the log, if the log does not have it"},
	{what, "policy", "show which checks are skipped for which tensors and modes"},
	{what, "list", "list the planted faults"},

	{where, "device", "the `device` of the tensors, such as cuda: opassert help devices (default: cpu)"},
	{where, "libtorch", "the `folder` of the PyTorch (default: $LIBTORCH, that of -lib, of Python, the system's)"},
	{where, "python", "the `interpreter` that imports them; without -module it runs PyTorch's own ops"},
	{where, "workers", "how many processes run calls (default: the processors, and a quarter more)"},

	{howMuch, "n", "the `number` of cases of an op, or all (default: what finds nearly all)"},
	{howMuch, "seed", "the seed of the random cases"},
	{howMuch, "level", "`identity|content|meta`: help checks (default: content; meta with -lib, -module, -device)"},
	{howMuch, "run level", "`identity|content|meta` (default: identity for PyTorch's own kernels, else meta)"},
	{howMuch, "autograd", "begin calls at autograd, with arguments that require grad, and check OA014 alone"},
	{howMuch, "guard", "lay tensors between unreadable pages: help memory (default: with -lib, -module)"},
	{howMuch, "tolerance", "how far `values` of a device may be from the CPU's: help devices"},
	{howMuch, "timeout", "most processor time of a case; 15 times it where a kernel compiles itself"},
	{howMuch, "sample", "check the content of one in `N` calls of PyTorch's own ops"},
	{howMuch, "max-bytes", "check no content of storages larger than this; 0: of any size"},
	{howMuch, "lines", "with -preserve, record the Python line of every event"},
	{howMuch, "preset", "the checks to plan: `" + strings.Join(plan.Presets(), "|") + "`"},
	{howMuch, "always", "check in every build, not only under -tags opassert"},

	{output, "q", "print only the summary"},
	{output, "v", "print all that is known of each finding, and the tables of checks"},
	{output, "explain", "print the calls tried of ops that never ran, and their errors, as a file for -cases"},
	{output, "json", "print JSON on standard output instead of text: opassert help json"},
	{output, "run json", "write the findings as JSON to a `file`: opassert help json"},
	{output, "html", "write one self-contained HTML page to a `file`"},
	{output, "repro", "a `folder` for a program of each finding that shows it without opassert"},
	{output, "repro-import", "a `module` or library that registers the ops, for the programs of -repro; may be repeated"},
	{output, "record", "write distinct calls of ops to a `file`, for opassert check -cases"},
	{output, "record-strings", "with -record, write string arguments too, which may be secrets"},
	{output, "log", "with -preserve, write the events to a `file` for opassert trace"},
	{output, "out", "the `folder` of the generated package"},
	{output, "package", "the `name` of the generated package (default: the last element of -out)"},
	{output, "diff", "write nothing; show what would change, and exit 1 if something would"},

	{ofCI, "junit", "write the results as JUnit XML to a `file`"},
	{ofCI, "sarif", "write the findings as a SARIF log to a `file`"},
	{ofCI, "allow", "an allowlist `file` or preset, whose findings do not fail; may be repeated"},
	{ofCI, "baseline", "the `file` that lists known findings: only others fail"},
	{ofCI, "update", "write the findings to the -baseline file"},
	{ofCI, "fail", "raise each finding at the call, as a RuntimeError"},
	{ofCI, "strict", "make notes, warnings about the schema file, and ops that never ran, errors"},
	{ofCI, "gen strict", "make warnings errors, and ops without a wrapper and marks that are not read"},
	{ofCI, "merge strict", "make notes, and ops that never ran, errors"},
	{ofCI, "check", "write nothing; exit 1 when the files are stale"},
	{ofCI, "shard", "run one `part` of the ops, such as 2/8; opassert merge makes one report"},
	{ofCI, "state", "the `file` from which an interrupted run continues, or new, to run all ops again"},
}

// rowOf returns the row of a command's flag, nil if it has none.
func rowOf(command, name string) *flagRow {
	for _, asked := range []string{command + " " + name, name} {
		if i := slices.IndexFunc(flagRows, func(row flagRow) bool { return row.name == asked }); i >= 0 {
			return &flagRows[i]
		}
	}
	return nil
}

// printFlags prints the flags group by group, each in a line.
func printFlags(w io.Writer, command string, flags *flag.FlagSet) {
	group := ""
	for _, row := range flagRows {
		name := row.name[strings.Index(row.name, " ")+1:]
		f := flags.Lookup(name)
		if f == nil || *rowOf(command, name) != row {
			continue
		}
		if row.group != group {
			group = row.group
			fmt.Fprintf(w, "%s:\n", group)
		}
		value, usage := flag.UnquoteUsage(f)
		if strings.Contains(value, "|") {
			value = ""
		}
		if !slices.Contains([]string{"", "0", "false", "true"}, f.DefValue) && !strings.Contains(usage, "(default") {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(w, "  %-20s %s\n", strings.TrimSpace("-"+f.Name+" "+value), usage)
	}
}

// An optionalBool is a flag that is true, false or not given.
type optionalBool struct{ given, on bool }

func (b *optionalBool) String() string {
	if b.given {
		return strconv.FormatBool(b.on)
	}
	return ""
}

func (b *optionalBool) Set(text string) (err error) {
	b.given = true
	b.on, err = strconv.ParseBool(text)
	return err
}

func (*optionalBool) IsBoolFlag() bool { return true }

func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
