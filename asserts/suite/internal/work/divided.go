package work

import (
	"fmt"
	"slices"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/tensor"
)

// A divider is an engine whose ops divide their work among threads.
type divider interface {
	// Server returns the process of the kernels, 0 where that is this one: Python's loop over
	// elements, and the ops of PyTorch that they call divide nothing.
	Server() int
	// Threads sets among how many, except ops that others call: these keep to one.
	Threads(count int) error
	// Spent returns the processor time of the process of the kernels.
	Spent() time.Duration
}

// worthDividing is how many elements a tensor has at least that kernels divide: more than twice
// the usual grain of at::parallel_for.
const worthDividing = 1 << 16

// lengthened returns changes that make tensors have so many elements or a few more: all that are
// alike, and the first alone, of which the op takes a batch. Of two that are not alike an op may
// compute with each pair of elements.
func lengthened(elements int64) []change {
	return []change{
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

// lengthen multiplies the first size of each tensor by the same number, or nearly: odd numbers do
// not divide evenly.
func lengthen(ts []*sample.TensorSpec, elements int64) {
	for _, t := range ts {
		t.Sizes[0] = t.Sizes[0]*(elements/tensor.Numel(t.Sizes)+1) | 1
	}
}

// undivided is the skip of a result that may follow the number of threads.
func undivided(reason string) []asserts.Skip {
	return []asserts.Skip{{Code: asserts.NondeterministicResult, Reason: "no call with two threads was made: " + reason, Count: 1}}
}

// large makes a call with tensors that are worth dividing, or as it is where it takes none, once
// for each setting, and returns it, or nil and the skip.
func (r *Runner) large(t *Target, c *sample.Case) (*attempt, []asserts.Skip) {
	e, ok := r.Engine.(divider)
	key := setting(c)
	switch {
	case !ok || !t.operator.Added || !t.repeatable() || t.leavesMemory() || !c.Plain() || shared(c) || len(growing(c.Tensors())) == 0 || t.divided[key]:
		return nil, nil
	case e.Server() != 0:
		return nil, undivided("the kernels are in another process")
	case !t.divided.first(key):
		return nil, undivided(fmt.Sprintf("%d settings of the other arguments had one", mostSettings))
	case !r.quick(t, c):
		return nil, undivided(fmt.Sprintf("one with %d elements takes %v or more", worthDividing/16, soon))
	}
	for a := range r.again(t, c, lengthened(worthDividing)...) {
		return a, nil
	}
	return nil, nil
}

// A call with a sixteenth of the elements that takes more processor time than soon, or longer than late
// by the clock, would take seconds with all, where an op computes with each pair of them or returns a
// tensor for each. A busy machine makes no call late.
const (
	soon = 2 * time.Millisecond
	late = 200 * time.Millisecond
)

// quick reports whether one of three such calls takes no longer.
func (r *Runner) quick(t *Target, c *sample.Case) bool {
	e := r.Engine.(divider)
	for range 3 {
		begun, spent := time.Now(), e.Spent()
		for range r.again(t, c, lengthened(worthDividing/16)...) {
			break
		}
		if e.Spent()-spent < soon && time.Since(begun) < late {
			return true
		}
	}
	return false
}

// divides makes a call with one thread and with two, and adds differences between the two, and faults
// of the second alone, to the result of its case.
func (r *Runner) divides(t *Target, c *sample.Case, result *report.Case) {
	e := r.Engine.(divider)
	if t.Trying != nil {
		t.Trying(c)
		defer t.Trying(nil)
	}
	one := r.seenAgain(t, c, firstTime)
	if one == nil || e.Threads(2) != nil {
		return
	}
	two := r.seenAgain(t, c, firstTime)
	left := r.left() // such as one thread, which they had before
	if e.Threads(1) != nil || two == nil {
		return
	}
	unlike := t.unlike(one[0], two[0])
	if len(unlike) > 0 && !r.repeats(t, c, firstTime, one[0]) {
		unlike = nil
	}
	for _, d := range unlike {
		left = append(left, about(d, asserts.Fault{
			Saw:     "follow what at::set_num_threads was called with",
			Symptom: asserts.Threads,
			Breaks:  "on a machine with other cores it computes another result",
			Fix:     "divide the work into parts that follow its size alone, and combine their results in order",
			Note:    "sums of floating point round by the order of their terms",
		}))
	}
	r.addJudged(t, &judgedCall{c, asserts.JudgeFaults(t.judged, one[0], left)}, result)
	var verdict asserts.Verdict
	for _, v := range asserts.Judge(t.judged, two[0], r.Policy).Violations {
		if v.Saw += ", with two threads"; r.Engine.Harmless(t.judged, v) == "" {
			verdict.Violations = append(verdict.Violations, v)
		}
	}
	r.addJudged(t, &judgedCall{c, verdict}, result)
}
