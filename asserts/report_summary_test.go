package asserts_test

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// A report ends with the site, as far as it is known.
func TestReportOfSite(t *testing.T) {
	for want, site := range map[string]asserts.Site{
		"\n  site    a.go:3 (lib.F)\n": {File: "a.go", Line: 3, Func: "lib.F"},
		"\n  site    a.go:3\n":         {File: "a.go", Line: 3},
		"reason: ...}\n":               {Func: "lib.F"},
	} {
		v := asserts.Violation{Code: asserts.FreshImpl, Op: "aten::f", Site: site}
		var b strings.Builder
		if err := v.WriteReport(&b); err != nil || !strings.HasSuffix(b.String(), want) {
			t.Errorf("%v: %v\n%s, want %q at its end", site, err, b.String(), want)
		}
	}
}

// A report is printable text, also if an exception or a panic carries it and a CI reads it.
func TestReportIsText(t *testing.T) {
	v := asserts.Violation{Code: asserts.FreshImpl, Op: "a::##[error]", Saw: "\x1b[2J\n::error::", Site: asserts.Site{File: "##vso[x].go", Line: 3}}
	if text := v.Error(); strings.Contains(text, "##[") || strings.Contains(text, "##vso[") || strings.Contains(text, "\x1b") || strings.Contains(text, "\n::") {
		t.Error(text)
	}
}

// Notes are marked in a summary; checks judged only in runs of many ops are not counted, and a
// reporter does not receive calls without violations.
func TestSummaryOfNotes(t *testing.T) {
	asserts.ForgetSummary()
	defer asserts.SetReporter(heard{t})()
	noted := newAdd()
	noted.Notes = []asserts.Excuse{{Code: asserts.UndeclaredAlias, Reason: "debatable"}}
	sparse := func(_, _ *tensor) *tensor { x := newTensor(4); x.impl.storage = nil; return x }
	defer asserts.SetLevel(asserts.Content)()
	op := wholeOp("add(Tensor self, Tensor other) -> Tensor")
	binary(op, sparse, newTensor(4), newTensor(4))
	s := asserts.Summarize()
	if s.Checks[asserts.KeptArgument] != 0 || s.Checks[asserts.UndeclaredWrite] != 2 {
		t.Errorf("counted %v", s.Checks)
	}
	s.Found = []asserts.Found{{Violation: &asserts.Violation{Code: asserts.FreshImpl, Op: "aten::f", Note: "debatable"}, Count: 2}, {Violation: &asserts.Violation{Code: asserts.FreshImpl, Op: "aten::g"}, Count: 1}}
	var b strings.Builder
	if err := s.Write(&b); err != nil || strings.Count(b.String(), "  (note)\n") != 1 {
		t.Errorf("%v\n%s, want one note", err, b.String())
	}
}

// heard fails if a reporter receives no violation.
type heard struct{ t *testing.T }

func (h heard) Report(vs asserts.Violations) {
	if len(vs) == 0 {
		h.t.Error("a reporter receives no violation")
	}
}

// A kernel's site is its function; other values have none.
func TestKernelSite(t *testing.T) {
	if site := (asserts.Kernel{Func: healthy}).Site(); site.File != "asserts/call_test.go" || site.Line == 0 {
		t.Errorf("healthy is at %v", site)
	}
	type holder struct{ *tensor }
	for _, f := range []any{nil, 3, holder.view} {
		if site := (asserts.Kernel{Func: f}).Site(); site != (asserts.Site{}) {
			t.Errorf("%T is at %v", f, site)
		}
	}
}

// A nil tensor is undefined, whatever its other arguments.
func TestObserveSliceOfNothing(t *testing.T) {
	var o asserts.Observation
	asserts.ObserveSlice[int](&o, asserts.Content, nil, []float32{1}, 1)
	if o != (asserts.Observation{}) {
		t.Errorf("seen as %+v", o)
	}
}
