package asserts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// A fault is a violation about its argument, else about the first return or the process; waived
// ones are left out.
func TestJudgeFaults(t *testing.T) {
	fault := func(code asserts.Code, argument string) asserts.Fault {
		return asserts.Fault{Code: code, Argument: argument, Saw: "saw", Fix: "fix", Note: "note", Site: asserts.Site{File: "m.py", Line: 7}}
	}
	for _, tt := range []struct {
		schema string
		fault  asserts.Fault
		want   string
	}{
		{"f(Tensor self, Tensor other) -> Tensor", fault(asserts.AutogradKernel, "other"), `argument 1 "other": argument other`},
		{"f(Tensor self) -> Tensor", fault(asserts.AutogradKernel, ""), `return 0 "result": result`},
		{"f(Tensor self) -> Tensor", fault(asserts.AutogradKernel, "unknown"), `return 0 "result": result`},
		{"f(Tensor(a!) self) -> ()", fault(asserts.AutogradKernel, ""), "the process: the process"},
		{"f(Tensor self) -> Tensor", fault(asserts.UndeclaredWrite, ""), "the process: the process"},
		{"f(Tensor self) -> Tensor", fault(asserts.UndeclaredWrite, "self"), `argument 0 "self": argument self`},
		{"f(Tensor self) -> (Tensor, Tensor)", asserts.Fault{Code: asserts.OutOfBounds, Return: 2, Saw: "saw", Fix: "fix", Note: "note", Site: asserts.Site{File: "m.py", Line: 7}}, `return 1 "result1": result1`},
		{"f(Tensor self) -> Tensor", fault(asserts.OutOfBounds, ""), "the process: the process"},
		{"f(Tensor self) -> Tensor", fault(asserts.OutOfBounds, "self"), `argument 0 "self": argument self`},
	} {
		op := wholeOp(tt.schema)
		verdict := asserts.JudgeFaults(op, new(asserts.Seen), []asserts.Fault{tt.fault})
		waived := *op
		waived.Waived = []asserts.Code{tt.fault.Code}
		if verdict := asserts.JudgeFaults(&waived, new(asserts.Seen), []asserts.Fault{tt.fault}); len(verdict.Violations) > 0 {
			t.Errorf("%s: a waived check is reported", tt.schema)
		}
		noted := *op
		noted.Notes = []asserts.Excuse{{Code: tt.fault.Code, Symptom: "other", Reason: "other"}, {Code: tt.fault.Code, Reason: "listed"}}
		unnoted := tt.fault
		unnoted.Note, unnoted.Symptom = "", "unlisted" // an entry with the code alone is about each symptom
		if v := asserts.JudgeFaults(&noted, new(asserts.Seen), []asserts.Fault{unnoted}).Violations; v[0].Note != "listed" {
			t.Errorf("%s: noted as %q", tt.schema, v[0].Note)
		}
		var got []string
		for _, v := range verdict.Violations {
			got = append(got, fmt.Sprintf("%s: %v %s %s %s %v", v.Title(), v.Subject, v.Saw, v.Fix, v.Note, v.Site))
		}
		want := []string{fmt.Sprintf("%v %s  %s  %s saw fix note m.py:7", tt.fault.Code, tt.fault.Code.Name(), op.Name, tt.want)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.schema, diff)
		}
	}
}

// A fault has the sentences of its symptom, and its own fix.
func TestFaultHasItsSymptom(t *testing.T) {
	for _, fix := range []string{"", "its own"} {
		fault := asserts.Fault{Code: asserts.UndeclaredWrite, Symptom: "state", Saw: "errno changed", Fix: fix}
		v := asserts.JudgeFaults(wholeOp("f(Tensor self) -> Tensor"), new(asserts.Seen), []asserts.Fault{fault}).Violations[0]
		row := v.Symptom.In(v.Code)
		if v.Fix != map[string]string{"": row.Fix}[fix]+fix || v.Note != row.Note || row.Note == "" || !strings.Contains(v.Error(), row.Rule) {
			t.Errorf("fix %q, note %q:\n%v", v.Fix, v.Note, v)
		}
	}
}

// A fault without frames gets those of another one of the same code and place, and all are
// reported.
func TestFramed(t *testing.T) {
	fault := func(code asserts.Code, argument string, result int, frames ...string) asserts.Fault {
		return asserts.Fault{Code: code, Argument: argument, Return: result, Saw: fmt.Sprint(len(frames), " frames"), Frames: frames}
	}
	bare := fault(asserts.OutOfBounds, "self", 0)
	for _, tt := range []struct {
		fault, other asserts.Fault
		want         int // number of frames
	}{
		{bare, fault(asserts.OutOfBounds, "self", 0, "a", "b"), 2},
		{bare, bare, 0},
		{bare, fault(asserts.OutOfBounds, "other", 0, "a"), 0},
		{bare, fault(asserts.OutOfBounds, "self", 1, "a"), 0},
		{bare, fault(asserts.UseAfterFree, "self", 0, "a"), 0},
		{fault(asserts.OutOfBounds, "self", 0, "a"), fault(asserts.OutOfBounds, "self", 0, "b", "c"), 1},
	} {
		got := tt.fault.Framed([]asserts.Fault{bare, tt.other})
		if len(got.Frames) != tt.want || got.Saw != fmt.Sprint(tt.want, " frames") {
			t.Errorf("%v with %v: %v", tt.fault, tt.other, got)
		}
	}
	op := wholeOp("f(Tensor self) -> Tensor")
	verdict := asserts.JudgeFaults(op, new(asserts.Seen), []asserts.Fault{fault(asserts.OutOfBounds, "self", 0, "a", "b")})
	if got := verdict.Violations[0].Saw; got != "2 frames, in a < b" {
		t.Errorf("saw %q", got)
	}
}
