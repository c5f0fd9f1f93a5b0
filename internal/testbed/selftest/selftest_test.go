package selftest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/faults"
	"github.com/opassert/opassert/internal/testbed/gentest"
	"github.com/opassert/opassert/internal/testbed/gentest/faulty"
	"github.com/opassert/opassert/internal/testbed/samples"
	"github.com/opassert/opassert/schema"
)

func TestEveryFaultIsReportedOnce(t *testing.T) {
	results := Faults()
	if len(results) < 100 {
		t.Errorf("%d faults are planted", len(results))
	}
	for _, text := range (Results{Faults: results}).Wrong() {
		t.Error(text)
	}
	for _, r := range results {
		name := strings.ReplaceAll(r.Fault.Code.Name(), "-", "_")
		if r.Fault.Why == "..." {
			t.Errorf("%s does not say why it is wrong: write why in internal/testbed/faults/%s.go", r.Fault.Op, name)
		}
		for _, v := range r.Ran.Violations {
			if v.Fix == "..." {
				t.Errorf("%v %s does not say what to change: write fixes in asserts/check_%s.go", v.Code, v.Code.Name(), name)
			}
		}
	}
}

// A wrapper passes a panic on, reports nothing, and holds no reference.
func TestPanicsGoThrough(t *testing.T) {
	four, one := c10.FromFloats([]float64{1, -2, 3, -4}, []int64{4}, c10.TensorOptions{DType: c10.Float32}),
		c10.FromFloats([]float64{1}, []int64{1}, c10.TensorOptions{DType: c10.Float32})
	for _, tt := range []struct {
		op   string
		args []any
		says string
	}{
		{"fault::panics_", []any{four, one}, "sizes [4] and [1]"},
		{"fault::rebinds.list", []any{four, []*c10.Tensor{one}}, "index out of range"},
	} {
		before := uses(tt.args)
		outcome := call(asserts.Content, must.Get(lookup(faulty.Wrappers, tt.op))(t), tt.args)
		if !strings.Contains(fmt.Sprint(outcome.Panic), tt.says) {
			t.Errorf("the panic of %s was passed on as %v, want %q in it", tt.op, outcome.Panic, tt.says)
		}
		if len(outcome.Violations) > 0 {
			t.Errorf("%s is reported as %s", tt.op, titles(outcome.Violations))
		}
		if after := uses(tt.args); after != before {
			t.Errorf("use counts of %s went from %s to %s", tt.op, before, after)
		}
	}
}

func uses(args []any) string {
	var b strings.Builder
	for _, a := range args {
		switch a := a.(type) {
		case *c10.Tensor:
			o := asserts.Observe(a, asserts.Identity)
			fmt.Fprintf(&b, "%d/%d ", o.ImplUses, o.StorageUses)
		case []*c10.Tensor:
			for _, t := range a {
				b.WriteString(uses([]any{t}))
			}
		}
	}
	return b.String()
}

// file returns the file with the planted faults of a check.
func file(c asserts.Code) string {
	return "internal/testbed/faults/" + strings.ReplaceAll(c.Name(), "-", "_") + ".go"
}

// A check has a fault for every kind of subject that it can be about, in every class
// of op, or a reason why none is possible.
func TestEveryCellIsPlantedOrImpossible(t *testing.T) {
	planted := 0
	for _, c := range faults.Matrix() {
		planted += len(c.Faults)
		switch {
		case len(c.Faults) == 0 && c.Impossible == "":
			t.Errorf("%v %s has no planted fault in %s ops on: %s, and no reason why it can have none: write %s", c.Code, c.Code.Name(), c.Class, c.Kind, file(c.Code))
		case len(c.Faults) > 0 && c.Impossible != "":
			t.Errorf("%v %s has %d faults in %s ops on: %s, where %s", c.Code, c.Code.Name(), len(c.Faults), c.Class, c.Kind, c.Impossible)
		}
	}
	if planted != len(faults.All()) {
		t.Errorf("%d faults in the matrix, %d in all", planted, len(faults.All()))
	}
}

// A place is a kind of subject and a class of op that a check is judged on.
type place struct {
	code asserts.Code
	kind faults.SubjectKind
}

// healthyPlaces returns the places at which a check is judged on some call of a
// healthy kernel.
func healthyPlaces() map[place]bool {
	called := map[string]bool{}
	for _, s := range samples.All() {
		called["aten::"+s.Op] = true
	}
	for _, s := range faults.AllSilent() {
		called[s.Op] = true
	}
	healthy := map[place]bool{}
	for _, k := range slices.Concat(gentest.Kernels, faulty.Kernels) {
		if called[k.Op.Name] {
			for _, c := range k.Op.Plan() {
				healthy[place{c.Code, kindOf(k.Op, c.On)}] = true
			}
		}
	}
	return healthy
}

// For each place where a check can be broken there is a healthy kernel.
func TestEveryFaultHasAHealthyTwin(t *testing.T) {
	healthy := healthyPlaces()
	for _, f := range faults.Calls() { // a fault in a schema has a twin
		kind := f.Kind
		if kind == faults.Out && f.Code.About()&asserts.Return != 0 {
			kind = faults.Single
		}
		if !healthy[place{f.Code, kind}] {
			t.Errorf("%v %s has a planted fault on a %s, and is judged on no healthy kernel there: add a call to closeCalls in internal/testbed/faults/table.go, or to internal/testbed/samples", f.Code, f.Code.Name(), kind)
		}
	}
}

// A check says for which tensors it can't be relied on.
func TestEveryCheckHasAPolicyRow(t *testing.T) {
	for code := range asserts.AllCodes.All() {
		if code.Skips() == nil {
			t.Errorf("%v %s does not say for which tensors it can't be relied on: give its row skips, or reliable, in asserts/check_%s.go",
				code, code.Name(), strings.ReplaceAll(code.Name(), "-", "_"))
		}
	}
}

// kindOf returns the kind of argument or return that a check of the op is about.
func kindOf(op *asserts.Op, on asserts.Ref) faults.SubjectKind {
	s := op.Subject(on)
	if _, isArg := on.Arg(); !isArg {
		switch {
		case s.List:
			return faults.Returned
		case len(op.Results) > 1:
			return faults.Tuple
		}
		return faults.Single
	}
	switch optional := strings.Contains(s.Suffix, "?"); {
	case s.Out:
		return faults.Out
	case s.List && optional:
		return faults.OptionalList
	case s.List:
		return faults.List
	case optional:
		return faults.Optional
	}
	return faults.Tensor
}

// classOf returns the class of an op by its subjects.
func classOf(op *asserts.Op) faults.Class {
	switch {
	case slices.ContainsFunc(op.Args, func(s asserts.Subject) bool { return s.Write }):
		return faults.InPlace
	case slices.ContainsFunc(op.Results, func(s asserts.Subject) bool { return s.Before != nil }):
		return faults.View
	}
	return faults.OutOfPlace
}

// The op and subject of a fault in the table are those of the schema.
func TestFaultsAreWhatTheirSchemasSay(t *testing.T) {
	ops := map[string]*asserts.Op{}
	for _, k := range faulty.Kernels {
		ops[k.Op.Name] = k.Op
	}
	for _, f := range faults.All() {
		op := ops[f.Op]
		if f.Schema != "" {
			op = planned(t, f.Schema)
		}
		if got := classOf(op); got != f.Class {
			t.Errorf("%s is %s, the table says %s", f.Op, got, f.Class)
		}
		i := slices.IndexFunc(op.Plan(), func(c asserts.Check) bool {
			return (c.Code == f.Code || f.Schema != "") && op.Subject(c.On).Name == f.Subject
		})
		if i < 0 {
			t.Errorf("%s: %v is not planned on %s", f.Op, f.Code, f.Subject)
		} else if got := kindOf(op, op.Plan()[i].On); got != f.Kind && f.Kind != faults.Out {
			t.Errorf("%s of %s is a %s, the table says %s", f.Subject, f.Op, got, f.Kind)
		}
	}
}

// planned returns the op of a schema.
func planned(t *testing.T, text string) *asserts.Op {
	t.Helper()
	op := must.Get(schema.ParseDispatcher(text))(t)
	planner := must.Get(plan.NewPlanner("full", nil, allowlist.Where{}))(t)
	planned := planner.Plan(op).Asserts(asserts.Meta)
	return &planned
}

func TestHealthyKernelsAreSilent(t *testing.T) {
	results := Healthy()
	if results.Made < 1000 {
		t.Errorf("%d calls of healthy kernels", results.Made)
	}
	for _, text := range (Results{Healthy: results}).Wrong() {
		t.Error(text)
	}
}

// The comparison of reports can fail.
func TestWrongReportIsNoticed(t *testing.T) {
	for name, change := range map[string]func(*faults.Planted){
		"subject":     func(f *faults.Planted) { f.Subject += "x" },
		"schema":      func(f *faults.Planted) { f.Schema = f.Healthy },
		"twin":        func(f *faults.Planted) { f.Healthy = f.Schema },
		"no schema":   func(f *faults.Planted) { f.Schema = "(" },
		"not healthy": func(f *faults.Planted) { f.Healthy = "(" },
	} {
		all := faults.All()
		f := all[slices.IndexFunc(all, func(f faults.Planted) bool { return f.Schema != "" })]
		if change(&f); lint(f).Wrong == "" {
			t.Errorf("of a schema, a wrong %s goes unnoticed", name)
		}
	}
	unchanged := Faults()[0]
	for name, change := range map[string]func(*faults.Planted){
		"code":    func(f *faults.Planted) { f.Code++ },
		"subject": func(f *faults.Planted) { f.Subject += "x" },
		"element": func(f *faults.Planted) { f.Element++ },
		"against": func(f *faults.Planted) { f.Against += "x" },
	} {
		f := unchanged.Fault
		change(&f)
		if wrong(f, unchanged.Ran) == "" {
			t.Errorf("a wrong %s goes unnoticed", name)
		}
	}
	if wrong(unchanged.Fault, CallOutcome{}) == "" || wrong(unchanged.Fault, CallOutcome{Panic: 1}) == "" {
		t.Error("an unreported fault goes unnoticed")
	}
	twice := CallOutcome{Violations: append(unchanged.Ran.Violations, unchanged.Ran.Violations...)}
	if wrong(unchanged.Fault, twice) == "" {
		t.Error("a fault reported twice goes unnoticed")
	}
}
