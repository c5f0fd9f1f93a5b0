package work

import (
	"fmt"
	"slices"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// worthDividing is the number of elements from which kernels divide a tensor: more than twice the
// usual grain of at::parallel_for.
const worthDividing = 1 << 16

// lengthened returns changes that give tensors at least this number of elements: all if they are
// alike, or the first alone if the op treats it as a batch. With two that are not alike an op may
// compute each pair of elements.
func lengthened(elements int64) []tensorChange {
	return []tensorChange{
		func(all []*sample.TensorSpec) {
			some := growing(all)
			if !alike(some) {
				some = some[:1]
			}
			lengthen(some, elements)
		},
		func(all []*sample.TensorSpec) { lengthen(growing(all)[:1], elements) },
		asItIs,
	}
}

// growing returns the tensors that have elements in a dimension.
func growing(all []*sample.TensorSpec) []*sample.TensorSpec {
	return slices.DeleteFunc(slices.Clone(all), func(t *sample.TensorSpec) bool { return len(t.Sizes) == 0 || tensor.Numel(t.Sizes) == 0 })
}

// alike reports whether tensors have the same sizes.
func alike(ts []*sample.TensorSpec) bool {
	return !slices.ContainsFunc(ts, func(t *sample.TensorSpec) bool { return !slices.Equal(t.Sizes, ts[0].Sizes) })
}

// lengthen multiplies the first size of each tensor by about the same number: odd numbers do not
// divide evenly.
func lengthen(ts []*sample.TensorSpec, elements int64) {
	for _, t := range ts {
		t.Sizes[0] = t.Sizes[0]*(elements/tensor.Numel(t.Sizes)+1) | 1
	}
}

// moreRaces is what is not tried if a call with two threads is repeated less often.
var moreRaces = fmt.Sprintf("a call with two threads was not repeated %d times: ", races)

// cannotSet is the reason if the engine has one number of threads.
const cannotSet = "the number of threads cannot be set"

// large makes a call with tensors that are worth dividing, or unchanged if the op refuses them,
// once for each setting, and returns it, or nil and the skip.
func (r *Runner) large(t *Target, from *attempt) (*attempt, []asserts.Skip) {
	e, ok := r.Engine.(engine.Threaded)
	c := from.c
	key := setting(c)
	switch {
	case from.calls[0].seen.Autograd: // OA014 alone is judged
		return nil, nil
	case !ok || !t.operator.Added || !t.repeatable() || t.leavesMemory() || !c.Plain() || shared(c) || len(growing(c.Tensors())) == 0 || t.divided[key]:
		return nil, nil
	case e.Server() != 0:
		return nil, untried(twoThreads, "the kernels are in another process")
	case !t.divided.first(key):
		return nil, untried(twoThreads, fmt.Sprintf("%d settings of the other arguments had one", mostSettings))
	case !r.fast(t, c):
		return nil, untried(twoThreads, fmt.Sprintf("a call with %d elements takes %v or more", worthDividing/16, soon))
	}
	for a := range r.again(t, c, lengthened(worthDividing)...) {
		if !worth(a.c) {
			return a, untried(largeOne, "the op refuses it")
		}
		return a, nil
	}
	return nil, untried(twoThreads, "it throws when it is repeated")
}

// worth reports whether a call has a tensor that is worth dividing.
func worth(c *sample.Case) bool {
	return slices.ContainsFunc(c.Tensors(), func(t *sample.TensorSpec) bool { return tensor.Numel(t.Sizes) >= worthDividing })
}

// A call with a sixteenth of the elements that takes more processor time than soon, or longer than
// late by the clock, would take seconds with all elements, if an op computes each pair of them or
// returns a tensor for each. On a busy machine a call is not late.
const (
	soon = 2 * time.Millisecond
	late = 200 * time.Millisecond
)

// fast reports whether one of three such calls takes no longer.
func (r *Runner) fast(t *Target, c *sample.Case) bool {
	e := r.Engine.(engine.Threaded)
	for range 3 {
		begun, spent := time.Now(), e.CPUTime()
		for range r.again(t, c, lengthened(worthDividing/16)...) {
			break
		}
		if e.CPUTime()-spent < soon && time.Since(begun) < late {
			return true
		}
	}
	return false
}

// A call with two threads is repeated up to races times, until the repetitions have taken racesTime of
// processor time: threads that write the same element lose an update only where they are at it at once.
const (
	races     = 50
	racesTime = 100 * time.Millisecond
)

var racing = asserts.Fault{
	Saw:     "differ between two calls with two threads",
	Symptom: asserts.Races,
	Breaks:  "on a machine with several cores its result is another one in each call",
	Fix:     "let no two threads write the same element, or update it atomically",
	Note:    unpromised,
}

var dividing = asserts.Fault{
	Saw:     "depend on the argument of at::set_num_threads",
	Symptom: asserts.Threads,
	Breaks:  "on a machine with another number of cores its result differs",
	Fix:     "divide the work by its size alone, and combine the results of the parts in order",
	Note:    "the rounding of floating-point sums depends on the order of their terms",
}

// divides makes a call with one thread and with two, and adds differences between them, and faults
// of the second only, to the result of its case.
func (r *Runner) divides(t *Target, c *sample.Case, result *report.CaseResult) {
	if t.Trying != nil {
		t.Trying(c)
		defer t.Trying(nil)
	}
	verdicts, skips := r.withThreads(t, c)
	for _, verdict := range append(verdicts, asserts.Verdict{Skips: skips}) {
		r.addJudged(t, &judgedCall{c, verdict}, result)
	}
}

// withThreads judges a call with two threads, or returns the skip of one that cannot be compared.
func (r *Runner) withThreads(t *Target, c *sample.Case) (verdicts []asserts.Verdict, skips []asserts.Skip) {
	e := r.Engine.(engine.Threaded)
	one := r.seenAgain(t, c, firstTime)
	switch {
	case one == nil:
		return nil, untried(twoThreads, "it throws when it is repeated")
	case e.Threads(2) != nil:
		return nil, untried(twoThreads, cannotSet)
	}
	two := r.seenAgain(t, c, firstTime)
	var raced []compare.Difference
	if two != nil {
		raced, skips = r.raced(t, c, two[0])
	}
	left := r.left() // such as from one thread, which they had before
	switch {
	case e.Threads(1) != nil:
		return nil, untried(twoThreads, cannotSet)
	case two == nil:
		return nil, untried(twoThreads, "it throws with them")
	}
	unlike := t.unlike(one[0], two[0])
	if len(unlike)+len(raced) > 0 && !r.repeats(t, c, firstTime, one[0]) {
		unlike, raced = nil, nil
	}
	for _, d := range raced {
		left = append(left, about(d, racing))
	}
	for _, d := range unlike { // of one result the first fault is reported
		left = append(left, about(d, dividing))
	}
	alone := asserts.Verdict{}
	for _, v := range asserts.Judge(t.judged, two[0], r.Policy).Violations {
		if v.Saw += ", with two threads"; r.Engine.Harmless(t.judged, v) == "" {
			alone.Violations = append(alone.Violations, v)
		}
	}
	return []asserts.Verdict{asserts.JudgeFaults(t.judged, one[0], left), alone}, skips
}

// raced returns the results that differ between two calls with two threads, or the skip if it made fewer calls.
func (r *Runner) raced(t *Target, c *sample.Case, seen *asserts.Seen) ([]compare.Difference, []asserts.Skip) {
	e := r.Engine.(engine.Threaded)
	begun := e.CPUTime()
	for range races {
		if e.CPUTime()-begun >= racesTime {
			return nil, untried(moreRaces, fmt.Sprintf("these take %v or more", racesTime))
		}
		again := r.seenAgain(t, c, firstTime)
		if again == nil {
			return nil, untried(moreRaces, "it throws when it is repeated")
		}
		if differ := t.unlike(seen, again[0]); len(differ) > 0 {
			return differ, nil
		}
	}
	return nil, nil
}
