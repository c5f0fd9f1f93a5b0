package report

import (
	"encoding/json"
	"html"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An op is counted apart where as many cases as give it up ended in errors that
// no arguments avoid, and nowhere else.
func TestOpsThatCannotRunAreApart(t *testing.T) {
	ended := func(beyond string, cases int) *OpResult {
		op := &OpResult{Op: "aten::f", Below: true}
		for n := range cases {
			op.Add(&Case{Case: n, Error: "no", Beyond: beyond})
		}
		op.Bound()
		return op
	}
	ran := ended("it calls g", GiveUp)
	ran.Add(&Case{Ran: true})
	ran.Cannot = ""
	ran.Bound()
	for _, tt := range []struct {
		op    *OpResult
		apart int
	}{
		{ended("it calls g", GiveUp), 1},
		{ended("it calls g", GiveUp-1), 0},
		{ended("", GiveUp), 0},
		{ran, 0},
	} {
		sum := (&Report{Ops: []*OpResult{tt.op}}).Totals()
		if got := sum.Cannot["it calls g"]; got != tt.apart || sum.Below != 1-tt.apart {
			t.Errorf("%d ops apart and %d below autograd, want %d apart", got, sum.Below, tt.apart)
		}
	}
}

// Text, JSON and page say the same of how many ops ran, out of how many that can.
func TestReachIsToldAlike(t *testing.T) {
	r := Report{Engine: "x", Ops: []*OpResult{
		{Op: "aten::a", Below: true, Cases: 1, Ran: 1},
		{Op: "aten::b", Below: true, Cases: 1, Error: "no"},
		{Op: "aten::c", Below: true, Cannot: "it calls <g>"},
		{Op: "aten::d", Below: true, Cannot: "it calls <g>"},
		{Op: "aten::e", Below: true, Cannot: "it is gone"},
		{Op: "aten::f", Cases: 1, Ran: 1},
		{Op: "aten::g", Cannot: "it is gone"},
	}}
	wrote := func(write func(io.Writer) error) string {
		t.Helper()
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text, page := wrote(r.WriteText), html.UnescapeString(wrote(r.WriteHTML))
	for _, line := range []string{
		"2 of 7 ran; of those with a kernel below autograd 1 of the 2 that can run here",
		"2 with a kernel below autograd cannot run here: it calls <g>",
		"1 with a kernel below autograd cannot run here: it is gone",
	} {
		if !strings.Contains(text, " "+line+"\n") || !strings.Contains(page, ": "+line+".</p>") {
			t.Errorf("want %q in the text and in the page:\n%s", line, text)
		}
	}
	var all []struct{ Reach Reach }
	if err := json.Unmarshal([]byte(wrote(r.WriteJSON)), &all); err != nil {
		t.Fatal(err)
	}
	want := Reach{Ops: 7, Reached: 2, Below: 2, BelowRun: 1, Cannot: map[string]int{"it calls <g>": 2, "it is gone": 1}}
	if diff := cmp.Diff(want, all[len(all)-1].Reach); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

// The report says once of each class of each argument whether a call had it.
func TestClassesAreToldByArgument(t *testing.T) {
	op := new(OpResult)
	op.Add(&Case{Tried: []string{"self: const:NaN", "dim: -1"}})
	op.Add(&Case{Tried: []string{"self: const:NaN", "dim: 0"}, Ran: true})
	op.Add(&Case{Tried: []string{"self: const:NaN"}, Ran: true})
	op.Add(&Case{Tried: []string{"dim: 0"}})
	if got := op.Tried["self"]; !slices.Equal(got, []string{"const:NaN"}) || !slices.Equal(op.Tried["dim"], []string{"0"}) {
		t.Errorf("tried %v", op.Tried)
	}
	if op.Refused.count() != 1 || !slices.Equal(op.Refused["dim"], []string{"-1"}) {
		t.Errorf("refused %v", op.Refused)
	}
}

// What goes wrong beside the op is reported with whose fault it is.
func TestFaults(t *testing.T) {
	r := &Report{Ops: []*OpResult{{Op: "a::b", Fault: "a worker does not start"}, {Op: "a::c", Fault: "Observe panics", Library: true}}}
	faults := [][]string{r.Faults(), r.LibraryFaults()}
	for i, want := range []string{"opassert failed: a worker does not start", "the library failed: Observe panics"} {
		if got := r.Results()[2*i].Reason; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if len(faults[i]) != 1 || faults[i][0] != r.Ops[i].Fault {
			t.Errorf("%v are the faults", faults[i])
		}
	}
}
