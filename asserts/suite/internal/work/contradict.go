package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// others change the contents, the sizes or the strides of a tensor, which may show that a kernel or
// its fake contradicts itself. The dtype and the number of dimensions stay.
var others = []probe.Change{
	probe.Each(func(t *sample.TensorSpec) { t.Values, t.Fill = nil, sample.Fill{} }),
	probe.Each(func(t *sample.TensorSpec) { t.Values, t.Fill = nil, sample.Fill{Name: "const"} }),
	probe.Each(func(t *sample.TensorSpec) { t.Values, t.Fill = nil, sample.Fill{Name: "negative"} }),
	probe.Each(func(t *sample.TensorSpec) { t.Arrangement = tensor.Transposed; t.Legal() }),
	probe.Each(func(t *sample.TensorSpec) { t.Arrangement = tensor.Sliced; t.Legal() }),
	probe.Each(func(t *sample.TensorSpec) { t.Arrangement = tensor.Contiguous }),
	probe.Each(func(t *sample.TensorSpec) { addToSizes(t, 1) }),
	probe.Each(func(t *sample.TensorSpec) { addToSizes(t, 2) }),
}

func addToSizes(t *sample.TensorSpec, n int64) {
	for i := range t.Sizes {
		t.Sizes[i] += n
	}
}

// contradicts repeats a call for which a fake, or the kernel for meta, and the kernel differ, with
// changes, until one shows which of the two contradicts itself, and adds that to the finding.
func (r *Runner) contradicts(t *Target, c *sample.Case, f *report.Finding) {
	if f.Violation.Code != asserts.MetaAlias || !t.operator.Added {
		return
	}
	on := f.Devices[len(f.Devices)-1]
	for here := range r.again(t, c, probe.Unchanged) {
		first, ok := here.pair(on)
		if !ok {
			return
		}
		for like := range r.again(t, c, others...) {
			there, made := like.pair(on)
			if !made {
				continue
			}
			if text := compare.Contradicts(t.judged, f.Violation.Subject, first, there, like.c.String()); text != "" {
				f.Violation.Fix = text
				return
			}
		}
	}
}

// pair returns the call and the one on a device that it is compared with, if that was made.
func (a *attempt) pair(on engine.Device) (compare.Pair, bool) {
	real := a.calls[0].seen
	if on == engine.Fake {
		if a.fake.seen == nil {
			return compare.Pair{}, false
		}
		return compare.Pair{Real: real, Other: a.fake.seen.Settled(real)}, true
	}
	i := slices.IndexFunc(a.calls, func(c deviceCall) bool { return c.on == on })
	return compare.Pair{Real: real, Other: a.calls[i].seen}, a.calls[i].seen != nil
}
