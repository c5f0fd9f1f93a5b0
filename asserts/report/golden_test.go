package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// tallied is an op with cases that ran, and checks that were judged on cpu.
func tallied(name string, codes ...asserts.Code) *OpResult {
	op := &OpResult{Op: "aten::" + name, Schema: name + "(Tensor self) -> Tensor", Below: true, Cases: 5, Ran: 4}
	var t Tally
	for _, c := range codes {
		t.Judged[c] = 4
	}
	op.Devices = Devices{engine.CPU: t}
	return op
}

// on sets the op and the devices of a finding.
func on(op *OpResult, f *Finding, devices ...engine.Device) *Finding {
	f.Violation.Op, f.Call, f.Recipe, f.Devices = op.Op, op.Op+"(self=float32[2])", `{self: "float32[2]"}`, devices
	op.Findings = append(op.Findings, f)
	return f
}

// failing is a run in which everything goes wrong, each in an op of its own.
func failing() *Report {
	add := tallied("add.Tensor", asserts.InputImpl, asserts.UndeclaredAlias, asserts.FreshStorage)
	add.Took, add.Site = time.Second, asserts.Site{File: "add.cpp", Line: 7}
	add.Devices[engine.Meta] = Tally{Skips: []asserts.Skip{{Code: asserts.FreshImpl, Reason: "of a subclass", Count: 2}}}
	add.Devices["lpu"] = Tally{Uncalled: map[string]int{"no kernel": 21}}
	add.Waived = []asserts.Skip{{Code: asserts.FreshStorage, Reason: "it caches", Count: 3}}
	add.Lacks = map[string]int{"dtype bits8": 2, "csr tensors": 1}
	add.Unfinished = map[string]int{"it takes long": 2}
	on(add, finds(asserts.UndeclaredAlias, 0, "self", "it shares <it>"), engine.CPU, engine.Meta).Times = 2
	on(add, finds(asserts.InputImpl, 0, "self", "another"), engine.Meta)
	for element := range 2 { // one line of a baseline
		known := on(add, finds(asserts.FreshStorage, 1, "other", "known"), engine.CPU)
		known.Known, known.Violation.Subject.Element = true, element
	}
	add.Crashes = []Crash{{Case: 4, Cause: "SIGSEGV", Alone: true, Device: engine.CPU, Call: "aten::add(self=float32[2])", Recipe: `{self: "float32[2]"}`, Frames: []string{"inner (libx.so)", "outer (libx.so)"}}}

	inplace := tallied("add_.Tensor", asserts.InputImpl)
	on(inplace, finds(asserts.InputImpl, 0, "self", "another"), engine.CPU)
	inplace.Crashes = []Crash{
		{Case: 1, Cause: "SIGSEGV", Alone: true, Frames: []string{"inner (libx.so)"}},
		{Case: 2, Cause: "SIGFPE", Alone: true, Waived: "it is slow"},
		{Case: 3, Cause: "hang"},
		{Case: 3, Cause: "SIGBUS", Alone: true, Known: true},
	}
	frameless := tallied("frameless")
	frameless.Ran = 0
	frameless.Crashes = []Crash{{Case: 1, Cause: "SIGSEGV", Alone: true}}
	elsewhere := tallied("elsewhere")
	elsewhere.Crashes = []Crash{{Case: 1, Cause: "SIGSEGV", Alone: true, Frames: []string{"other (liby.so)"}}}
	waived := tallied("waived")
	waived.Crashes = []Crash{{Case: 1, Cause: "SIGSEGV", Frames: []string{"inner (libx.so)"}}}

	known := tallied("add.out", asserts.InputImpl)
	on(known, finds(asserts.InputImpl, 0, "self", "known")).Known = true
	noted := tallied("noted", asserts.InputImpl)
	on(noted, finds(asserts.InputImpl, 0, "self", "perhaps"), engine.CPU).Violation.Note = "it is debatable"

	never := &OpResult{Op: "aten::never", Schema: "never(Tensor self) -> Tensor", Below: true, Cases: 9, Error: "not\ntoday", Closest: `{self: "t[2]"}`,
		Said: map[string]int{"a": 1, "b": 3, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1}}
	queue := &OpResult{Op: "ns::queue", Schema: "queue(__torch__.torch.classes.ns.Queue q) -> ()", Missing: "no way to make a Queue"}
	died := &OpResult{Op: "aten::died", Cases: 1, Crashes: []Crash{{Cause: "SIGILL"}}}
	failed := &OpResult{Op: "aten::failed", Fault: "a bug"}
	library := tallied("library")
	library.Fault, library.Library = "Observe panics", true
	left := tallied("left")
	left.Left = "after 5 minutes"
	left.Cannot = "it is gone"

	return &Report{
		Engine: "lib 1", Level: asserts.Meta, Seed: 7, Command: "opassert check", All: 99, Left: []string{"libz.so:\nno such file"},
		Gone: []baselineLine{{"OA001", "aten::old", "argument self"}},
		Ops:  []*OpResult{add, inplace, died, elsewhere, failed, frameless, known, left, library, never, noted, waived, queue},
	}
}

// clean is a run of two ops without findings.
func clean() *Report {
	op := tallied("mul", asserts.InputImpl)
	op.Tried, op.Refused = Classes{"self": {"empty", "const:NaN"}, "dim": {"-1"}}, Classes{"self": {"const:0"}}
	op.Devices[engine.Meta] = Tally{Uncalled: map[string]int{"no kernel": 1}}
	return &Report{Engine: "lib 1", Level: asserts.Identity, Through: "autograd", Seed: DefaultSeed, Command: "opassert check", All: 1, Ops: []*OpResult{op}}
}

// A run in every format.
func TestGolden(t *testing.T) {
	var got txtar.Archive
	add := func(name string, write func(io.Writer) error) {
		t.Helper()
		var b bytes.Buffer
		must.Do(t, write(&b))
		got.Files = append(got.Files, txtar.File{Name: name, Data: b.Bytes()})
	}
	r := failing()
	text := func(r *Report, form Form) func(io.Writer) error {
		return func(w io.Writer) error { return r.WriteText(w, form) }
	}
	add("failing.txt", text(r, Brief))
	add("failing-v.txt", text(r, Verbose))
	add("failing-q.txt", text(r, Quiet))
	add("failing.results", func(w io.Writer) error { return writeResults(w, r) })
	add("clean.txt", text(clean(), Brief))
	add("clean-v.txt", text(clean(), Verbose))
	add("clean.results", func(w io.Writer) error { return writeResults(w, clean()) })
	golden.Compare(t, "runs.txtar", string(txtar.Format(&got)))
}

// operators are those of the engine of failing.
func operators(t *testing.T) []engine.Operator {
	t.Helper()
	var all []engine.Operator
	for _, text := range []string{
		"aten::add.Tensor(Tensor self) -> Tensor", "aten::never(Tensor self) -> Tensor", "aten::died(Tensor self) -> Tensor",
		"ns::queue(__torch__.torch.classes.ns.Queue q, int n) -> ()",
		"ns::make_queue(int n) -> __torch__.torch.classes.ns.Queue",
	} {
		op := must.Get(schema.ParseDispatcher(text))(t)
		all = append(all, engine.Operator{Schema: op})
	}
	return all
}

// writeResults writes a line for each result; a report is its last line.
func writeResults(w io.Writer, r *Report) error {
	for _, x := range r.Results() {
		code := ""
		if x.Code != 0 {
			code = " " + x.Code.String()
		}
		_, err := fmt.Fprintf(w, "%s %s%s %q case %q on %q count %d: %s, %s, took %v: %s\n", x.Op, x.Status, code, x.Subject, x.Case, x.Device, x.Count, x.Reason,
			x.Site, x.Took, strings.TrimSpace(x.Report[strings.LastIndexByte(x.Report, '\n')+1:]))
		if err != nil {
			return err
		}
	}
	return nil
}
