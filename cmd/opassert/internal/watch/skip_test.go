package watch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// Writes of a call before it threw are not judged: they are a counted skip.
func TestFailedCallsAreCounted(t *testing.T) {
	op := &watchedOp{name: "a::b", judged: &asserts.Op{Checks: []asserts.Check{{Code: asserts.FreshImpl}, {Code: asserts.UndeclaredWrite}}}}
	want := []asserts.Result{{Op: "a::b", Code: asserts.UndeclaredWrite, Status: asserts.Skipped, Count: 2, Reason: failed}}
	if diff := cmp.Diff(want, withoutContent(op, countsOf{tallies: tallies{calls: 3, failed: 2}})); diff != "" {
		t.Error(diff)
	}
}

// Calls without contents, for another reason, are skips of the checks of contents.
func TestUnseenCallsAreCounted(t *testing.T) {
	op := &watchedOp{name: "a::b", judged: &asserts.Op{Checks: []asserts.Check{{Code: asserts.FreshImpl}, {Code: asserts.UndeclaredWrite}}}}
	got := withoutContent(op, countsOf{tallies: tallies{calls: 3, tooLarge: 2}})
	if len(got) != 1 || got[0].Code != asserts.UndeclaredWrite || got[0].Count != 2 {
		t.Errorf("skips are %v", got)
	}
}

func TestAnsweredView(t *testing.T) {
	wrapped, plain := asserts.Observation{Traits: asserts.WrapperSubclass}, asserts.Observation{}
	if has := having(asserts.Pending); has(plain) || has(wrapped) || !has(asserts.Observation{Traits: asserts.Pending}) {
		t.Error("Pending is found in other traits, or not in its own")
	}
	const class, own = "the view is of another class than its base", "a subclass may answer detach() and alias() with a storage of its own"
	for _, tt := range []struct {
		op      string
		code    asserts.Code
		of, in  asserts.Observation
		because string
	}{
		{"aten::t", asserts.ViewStorage, wrapped, plain, class},
		{"aten::t", asserts.ViewStorage, plain, wrapped, class},
		{"aten::t", asserts.ViewStorage, wrapped, wrapped, ""},
		{"aten::detach", asserts.ViewStorage, wrapped, wrapped, own},
		{"aten::alias", asserts.ViewStorage, wrapped, wrapped, own},
		{"aten::detach", asserts.ViewStorage, plain, plain, ""},
		{"aten::detach", asserts.FreshImpl, wrapped, plain, ""},
	} {
		seen := &asserts.Seen{Before: []asserts.Observation{tt.of}, Results: []asserts.Observation{tt.in}}
		if got := answeredView(&watchedOp{name: tt.op}, seen, &asserts.Violation{Code: tt.code}); got != tt.because {
			t.Errorf("%s %v: %q, want %q", tt.op, tt.code, got, tt.because)
		}
	}
}
