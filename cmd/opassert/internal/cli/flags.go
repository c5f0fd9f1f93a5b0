package cli

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
)

// A flagRow is a flag of a command whose help has groups.
type flagRow struct{ group, name, help string }

// The groups of check's flags.
const (
	whatRuns  = "What runs"
	whichCall = "Which calls"
	how       = "How they are made and checked"
	whatFails = "What fails"
	reports   = "Reports"
	theRun    = "The run"
)

// checkRows are the flags of check.
var checkRows = []flagRow{
	{whatRuns, "engine", "the engine that runs the kernels: `" + strings.Join(checkup.Engines(), "|") + "` (default: go in a Go module with generated packages, else libtorch)"},
	{whatRuns, "libtorch", "the `folder` of the PyTorch or libtorch (default: $LIBTORCH, that of -lib, the active Python's, the system's)"},
	{whatRuns, "lib", "a shared `library` with ops, or an installed Python package that has some; may be given several times"},
	{whatRuns, "module", "a Python `module` whose ops are checked, those of libraries that it loads too; several separated by commas"},
	{whatRuns, "python", "the `interpreter` that imports them (default: of the active environment, else python3), without -module for PyTorch's own ops"},
	{whatRuns, "op", "an op `name`, or a pattern such as aten::*conv*; may be given several times"},
	{whatRuns, "device", "the `device` of the tensors, such as cuda, openreg:1 (default: cpu); -module imports the package that brings it"},
	{whatRuns, "schema", "a `file` with schemas that replace the engine's own"},
	{whatRuns, "shard", "run one `part` of the ops, such as 2/8"},

	{whichCall, "n", "the `number` of cases that an op gets (default: each value class of each argument, then pairs of them)"},
	{whichCall, "case", "run only the case of this `number` (default: all)"},
	{whichCall, "cases", "a `file` with arguments of ops; see opassert help cases"},
	{whichCall, "seed", "the seed of the random cases"},
	{whichCall, "explain", "print, for ops that never ran, the calls tried and the kernels' errors, as a file for -cases"},

	{how, "level", "how much is checked: `identity|content|meta` (default: content, or meta with -lib, -module, -python and -device)"},
	{how, "autograd", "begin calls at autograd, with arguments that require grad, and check OA014 alone"},
	{how, "guard", "lay the memory of tensors between pages that can't be touched, for OA018 and OA019 (default: with -lib and -module)"},
	{how, "tolerance", "with -device, how far `values` may be from those of the CPU, relative to 1 + their size; 0: they are not compared"},
	{how, "timeout", "the maximum processor time of one case; a kernel of a module that may compile itself has 15 times as long"},

	{whatFails, "allow", "an allowlist `file` or preset; may be given several times"},
	{whatFails, "baseline", "the `file` that lists known findings and crashes: only others fail"},
	{whatFails, "update", "write the findings to the -baseline file"},
	{whatFails, "strict", "make warnings about the schema file, and ops that never ran, errors"},

	{reports, "json", "print a JSON array on standard output instead of text"},
	{reports, "q", "print only findings, crashes and errors"},
	{reports, "junit", "write the results as JUnit XML to a `file`"},
	{reports, "sarif", "write the findings as a SARIF log to a `file`"},
	{reports, "html", "write one self-contained HTML page to a `file`"},
	{reports, "repro", "write, and run, a program for each finding and crash that shows it without opassert, to a `folder`"},

	{theRun, "workers", "worker processes"},
	{theRun, "state", "the `file` that stores results, so that an interrupted run can continue (default: in the cache folder)"},
	{theRun, "rerun", "run all ops again, also those with results of an interrupted run"},
}

// describe sets the help of flags.
func describe(f *flag.FlagSet, rows []flagRow) {
	for _, row := range rows {
		f.Lookup(row.name).Usage = row.help
	}
}

// printGroups prints the flags group by group.
func printGroups(w io.Writer, f *flag.FlagSet, rows []flagRow) {
	var part *flag.FlagSet
	for i, row := range rows {
		if i == 0 || row.group != rows[i-1].group {
			part = flag.NewFlagSet("", flag.ContinueOnError)
			part.SetOutput(w)
		}
		one := f.Lookup(row.name)
		part.Var(one.Value, one.Name, one.Usage)
		part.Lookup(one.Name).DefValue = one.DefValue
		if i == len(rows)-1 || rows[i+1].group != row.group {
			fmt.Fprintf(w, "\n%s:\n", row.group)
			part.PrintDefaults()
		}
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
