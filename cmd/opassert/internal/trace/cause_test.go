package trace

import (
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts/preserve"
)

// The cause of a deallocation depends on the lines in the log, the most certain first.
func TestCause(t *testing.T) {
	for _, tt := range []struct {
		lines causeLines
		want  Cause
	}{
		{causeLines{}, CauseUnknown}, {causeLines{known: NotMarked, maker: 1, releaser: 2}, NotMarked},
		{causeLines{maker: 1, releaser: 2, hermeticAt: 3}, InterpreterClash}, {causeLines{tag: 1, releaser: 2, hermeticAt: 3}, InterpreterClash},
		{causeLines{maker: 1, releaser: 1, tag: 1}, CauseUnknown}, {causeLines{maker: 1, tag: 1}, CauseUnknown}, {causeLines{releaser: 2}, CauseUnknown},
		{causeLines{hermeticAt: 3, differsTo: 9, noneAt: 4}, HermeticState}, {causeLines{differsTo: 9, noneAt: 4}, OtherObject},
		{causeLines{noneAt: 4, slotAt: 2}, EmptySlot}, {causeLines{emptyAt: 5, made: MadePlain}, EmptySlot}, {causeLines{noneAt: 4, emptyAt: 5, stillAt: 6}, HermeticState},
		{causeLines{stillAt: 6}, HermeticState}, {causeLines{made: MadePlain}, HermeticState}, {causeLines{made: MadeHermetic}, CauseUnknown}, {causeLines{slotAt: 2}, HermeticState},
		{causeLines{answersAt: 3, slotAt: 3, made: MadePlain}, CauseUnknown}, {causeLines{answersAt: 3, stillAt: 6}, CauseUnknown}, {causeLines{answersAt: 3, hermeticAt: 2}, HermeticState},
		{causeLines{answersAt: 3, slotAt: 3, noneAt: 4, stillAt: 6}, HermeticState}, {causeLines{answersAt: 3, slotAt: 3, differsAt: 4}, HermeticState},
	} {
		if got := tt.lines.cause(); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.lines, got, tt.want)
		}
	}
}

// The evidence of a cause are the log's lines for it and against others.
func TestEvidence(t *testing.T) {
	for _, tt := range []struct {
		lines    causeLines
		evidence []Reason
		against  []Reason
	}{
		{causeLines{noneAt: 4}, []Reason{{4, "the slot's check answers none"}}, []Reason{{4, "not hermetic state: a release in a hermetic context prints that before this line"}}},
		{causeLines{emptyAt: 5, differsAt: 6}, []Reason{{5, "afterwards the slot is empty"}, {6, "preservation is skipped: the slot's check answers none"}}, nil},
		{causeLines{differsTo: 9, differsAt: 6}, []Reason{{6, "preservation is skipped: the slot's check answers 0x9"}}, nil},
		{causeLines{hermeticAt: 3, maker: 1, makerAt: 2, releaser: 1, releaserAt: 4}, []Reason{{3, "released in a hermetic context"}}, []Reason{{4, "not interpreter mismatch: made (line 2) and released by 0x1"}}},
		{causeLines{hermeticAt: 3, releaser: 1, releaserAt: 4, stillAt: 7}, []Reason{{3, "released in a hermetic context"}}, []Reason{{7, "not empty slot: it still points at the object"}}},
		{causeLines{made: MadePlain, madeAt: 1, slotAt: 2, stillAt: 7}, []Reason{{1, "made outside hermetic contexts, so the slot points at it"}, {2, "the slot points at it"}, {7, "the slot still points at it, so it was neither empty nor tagged otherwise"}}, nil},
		{causeLines{answersAt: 3, stillAt: 6}, []Reason{{3, "the slot's check answers with it"}}, []Reason{{3, "not hermetic state: the check answers none in a hermetic context"}}},
		{causeLines{made: MadeHermetic, madeAt: 1, slotAt: 2}, []Reason{{2, "the slot points at it"}}, nil},
		{causeLines{made: MadePlain, madeAt: 1, answersAt: 3, uses: 2, usesAt: 4},
			[]Reason{{1, "made outside hermetic contexts, so the slot points at it"}, {3, "the slot's check answers with it"}, {4, "the impl is shared, use count 2"}},
			[]Reason{{3, "not hermetic state: the check answers none in a hermetic context"}}},
	} {
		v := &InvariantViolation{facts: tt.lines}
		v.facts.deallocation = true
		if v.blame(); !slices.Equal(v.Evidence, tt.evidence) || !slices.Equal(v.Against, tt.against) {
			t.Errorf("%+v: %v against %v, want %v against %v", tt.lines, v.Evidence, v.Against, tt.evidence, tt.against)
		}
	}
	v := &InvariantViolation{Evidence: []Reason{{3, "c"}, {0, "none"}, {1, "a"}}}
	if v.blame(); v.Cause != CauseUnknown || !slices.Equal(v.Evidence, []Reason{{1, "a"}, {3, "c"}}) {
		t.Errorf("%s: %v", v.Cause, v.Evidence)
	}
}

// The deallocations in a hermetic context follow from the object handed to it, which
// has the earliest of their consequences.
func TestRooted(t *testing.T) {
	lost := func(line, context, consequence int64) *InvariantViolation {
		return &InvariantViolation{Code: preserve.SharedDealloc, Line: line, context: context, Consequence: consequence, facts: causeLines{deallocation: true, hermeticAt: line - 2}}
	}
	handed := &InvariantViolation{Code: preserve.Hermetic, Line: 50, context: 2}
	other := &InvariantViolation{Code: preserve.OneOwner, Line: 5, context: 1}
	own := lost(70, 1, 0)
	own.root = other
	unknown := &InvariantViolation{Code: preserve.SharedDealloc, Line: 80, context: 3, facts: causeLines{deallocation: true}}
	all := []*InvariantViolation{lost(12, 1, 0), lost(20, 1, 30), lost(22, 1, 25), lost(24, 1, 0), lost(26, 1, 40), lost(60, 2, 0), handed, other, own, unknown}
	got := rooted(all)
	if len(got) != len(all)+1 {
		t.Fatalf("%d violations, want one more than %d", len(got), len(all))
	}
	context := got[len(all)]
	if context.Code != preserve.Hermetic || context.Line != 10 || context.Consequence != 25 || context.Inferred != "" {
		t.Errorf("the context: %+v", context)
	}
	var roots []int64
	for _, v := range all {
		roots = append(roots, v.Root)
	}
	if want := []int64{10, 10, 10, 10, 10, 50, 0, 0, 5, 0}; !slices.Equal(roots, want) || handed.Consequence != 0 {
		t.Errorf("roots %v, want %v", roots, want)
	}
	inferred := &InvariantViolation{Line: 9, context: 4, facts: causeLines{deallocation: true, noneAt: 7, stillAt: 11}}
	if got := rooted([]*InvariantViolation{inferred}); len(got) != 2 || got[1].Line != 7 || got[1].Inferred == "" || got[1].Proof == "" || inferred.Proof != got[1].Proof {
		t.Errorf("inferred: %+v", got)
	}
}

// Each cause has the lines for it, and those against the causes that are near.
func TestReasons(t *testing.T) {
	full := causeLines{
		makerAt: 1, maker: 9, tagAt: 2, tag: 9, releaserAt: 3, releaser: 9, madeAt: 4, made: MadePlain, slotAt: 5, notMarkedAt: 6,
		hermeticAt: 7, answersAt: 8, noneAt: 10, differsAt: 11, usesAt: 12, emptyAt: 13, stillAt: 14,
	}
	unseen := full
	unseen.hermeticAt = 0
	for _, tt := range []struct {
		lines             causeLines
		cause             Cause
		evidence, against []int64
	}{
		{full, InterpreterClash, []int64{1, 2, 3, 10, 11, 12}, nil},
		{full, HermeticState, []int64{4, 5, 7, 10, 11, 12}, []int64{14, 3}},
		{unseen, HermeticState, []int64{4, 5, 10, 11, 12, 14}, []int64{3}},
		{full, EmptySlot, []int64{10, 11, 12, 13}, []int64{10, 3}},
		{full, CauseUnknown, []int64{4, 5, 8, 10, 11, 12}, []int64{8, 3}},
		{full, NotMarked, []int64{4, 5, 6, 10, 11, 12}, nil},
	} {
		lines := func(all []Reason) (at []int64) {
			for _, r := range all {
				if r.Line != 0 {
					at = append(at, r.Line)
				}
			}
			return at
		}
		evidence, against := tt.lines.reasons(tt.cause)
		if got := lines(evidence); !slices.Equal(got, tt.evidence) {
			t.Errorf("%s: evidence in the lines %v, want %v", tt.cause, got, tt.evidence)
		}
		if got := lines(against); !slices.Equal(got, tt.against) {
			t.Errorf("%s: against it are the lines %v, want %v", tt.cause, got, tt.against)
		}
	}
}
