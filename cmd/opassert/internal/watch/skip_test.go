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
