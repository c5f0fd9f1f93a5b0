package work

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
)

// The same call is repeated in memory with other initial contents, and on the other side of pages without access. If
// the bytes of a return differ, more calls, on the first side, distinguish results that depend on the memory from those
// that are not reproducible, and from those that depend on the alignment of tensors.

// unsteady is the reason why no result counts as depending on memory.
const unsteady = "the results of two calls differ even in memory that is filled equally"

// A repetition is the result of a repeated call.
type repetition struct {
	made    bool
	unknown bool   // something differs, but its bytes are not copied
	left    string // why results that depend on memory are not reported, or ""
	faults  []asserts.Fault
}

// notCopied is the reason why bytes that differ are not compared.
var notCopied = fmt.Sprintf("no bytes are copied of a storage of more than %d", asserts.SnapshotLimit)

// repeat repeats the first call of an attempt, unless it accessed memory illegally: results may be what it read there.
func (r *Runner) repeat(t *Target, a *attempt) repetition {
	if len(a.memory.faults) > 0 {
		r.frame(t, a)
		return repetition{}
	}
	first, then := a.calls[0].seen, r.seenAgain(t, a.c, probe.OtherSide)
	if then == nil {
		return repetition{}
	}
	if faults := r.touched(t).faults; len(faults) > 0 || !probe.Repeatable(t.operator.Schema) {
		return repetition{faults: faults}
	}
	differ := compare.Differing(t.judged, first, then[0])
	if len(differ) == 0 {
		return repetition{made: true, unknown: len(compare.Unknown(t.judged, first, then[0])) > 0}
	}
	filled, own, made := r.apart(t, a, differ)
	if !made {
		return repetition{}
	}
	shown := repetition{made: true}
	alike, why := r.leftOnCPU(t, a, filled)
	for _, d := range differ {
		switch i := slices.IndexFunc(filled, d.Same); {
		case slices.ContainsFunc(own, d.Same):
			if probe.MustWrite(t.operator.Schema, d) { // memory that is not filled differs, too
				shown.left, shown.faults = unsteady, append(shown.faults, probe.About(d, probe.Irreproducible.Fault))
			}
		case i < 0: // it depends on the side of the pages
		case slices.ContainsFunc(alike, d.Same):
			shown.left = why
		case probe.MustWrite(t.operator.Schema, filled[i]):
			shown.faults = append(shown.faults, probe.About(filled[i], probe.Uninitialised.Fault))
		}
	}
	return shown
}

// apart returns the results that differ between calls in memory filled in two ways, on the first
// side, and which of those that differ on the other side are not reproducible.
func (r *Runner) apart(t *Target, a *attempt,
	differ []compare.Difference) (filled, own []compare.Difference, made bool) {
	first, other := a.calls[0].seen, r.seenAgain(t, a.c, probe.OtherFill)
	if other == nil {
		return nil, nil, false
	}
	filled = compare.Differing(t.judged, first, other[0])
	for range probe.Often {
		again := r.seenAgain(t, a.c, probe.OtherFill, probe.First)
		if again == nil {
			return nil, nil, false
		}
		own = slices.Concat(own, compare.Differing(t.judged, other[0], again[0]),
			compare.Differing(t.judged, first, again[1]))
		follows := func(d compare.Difference) bool {
			i := slices.IndexFunc(filled, d.Same)
			return i >= 0 && probe.MustWrite(t.operator.Schema, filled[i]) && !slices.ContainsFunc(own, d.Same)
		}
		if !slices.ContainsFunc(differ, follows) {
			break
		}
	}
	return filled, own, true
}

// leftOnCPU returns the results that depend on memory on the CPU, too, if the call is on another device, and why they
// are not reported: an op whose kernels both leave memory unwritten is meant to.
func (r *Runner) leftOnCPU(t *Target, a *attempt,
	filled []compare.Difference) (alike []compare.Difference, why string) {
	i := slices.IndexFunc(a.calls, func(c deviceCall) bool { return c.on == engine.CPU })
	if i <= 0 {
		return nil, ""
	}
	if !a.c.Plain() {
		return filled, "it is unknown whether the kernel for the CPU leaves memory unwritten: " + a.calls[i].why
	}
	twins := r.seenAgain(t, a.c, probe.First.OnCPU(), probe.OtherFill.OnCPU())
	if twins == nil {
		return nil, ""
	}
	return compare.Differing(t.judged, twins[0], twins[1]), "the kernel for the CPU leaves memory unwritten, too"
}

// frame repeats a call that wrote memory illegally without being stopped at a page: on the other
// side it may be, which shows the kernel's frames.
func (r *Runner) frame(t *Target, a *attempt) {
	faults := a.memory.faults
	if slices.ContainsFunc(faults, func(f asserts.Fault) bool { return len(f.Frames) == 0 }) &&
		r.seenAgain(t, a.c, probe.OtherSide) != nil {
		more := r.touched(t).faults
		for i := range faults {
			faults[i] = faults[i].Framed(more)
		}
	}
}
