package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/tensor"
)

// others change a tensor in what a kernel, or its fake, may contradict itself by: its
// contents, sizes or strides. Its dtype and its number of dimensions stay.
var others = []func(*sample.TensorSpec){
	func(t *sample.TensorSpec) { t.Values, t.Fill = nil, sample.Fill{} },
	func(t *sample.TensorSpec) { t.Values, t.Fill = nil, sample.Fill{Name: "const"} },
	func(t *sample.TensorSpec) { t.Values, t.Fill = nil, sample.Fill{Name: "negative"} },
	func(t *sample.TensorSpec) { t.Arrangement = tensor.Transposed; t.Legal() },
	func(t *sample.TensorSpec) { t.Arrangement = tensor.Sliced; t.Legal() },
	func(t *sample.TensorSpec) { t.Arrangement = tensor.Contiguous },
	func(t *sample.TensorSpec) { addToSizes(t, 1) },
	func(t *sample.TensorSpec) { addToSizes(t, 2) },
}

func addToSizes(t *sample.TensorSpec, n int64) {
	for i := range t.Sizes {
		t.Sizes[i] += n
	}
}

// contradicts makes calls like one that a fake, or the kernel for meta, answers unlike
// the kernel, until one shows which of the two contradicts itself: the finding says so.
func (r *Runner) contradicts(t *Target, c *sample.Case, f *report.Finding) {
	if f.Violation.Code != asserts.MetaAlias || !t.operator.Added {
		return
	}
	on := f.Devices[len(f.Devices)-1]
	here, ok := r.pair(t, c, on)
	for _, change := range others {
		if !ok {
			return
		}
		like := c.Clone()
		for _, spec := range like.Tensors() {
			change(spec)
		}
		if there, made := r.pair(t, like, on); made {
			if text := asserts.Contradicts(t.judged, f.Violation.Subject, here, there, like.String()); text != "" {
				f.Violation.Fix = text
				return
			}
		}
	}
}

// pair makes a call, and returns it with what it is held against there, if it is made.
func (r *Runner) pair(t *Target, c *sample.Case, on engine.Device) (asserts.Pair, bool) {
	a, err := r.Try(t, c)
	if err != nil {
		return asserts.Pair{}, false
	}
	real := a.calls[0].seen
	if on == engine.Fake {
		if a.fake.seen == nil {
			return asserts.Pair{}, false
		}
		return asserts.Pair{Real: real, Other: a.fake.seen.Settled(real)}, true
	}
	i := slices.IndexFunc(a.calls, func(c call) bool { return c.on == on })
	return asserts.Pair{Real: real, Other: a.calls[i].seen}, a.calls[i].seen != nil
}
