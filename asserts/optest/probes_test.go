package optest_test

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
	"github.com/opassert/opassert/asserts/optest"
)

// A strided tensor is a view of an array.
type strided struct {
	data           []float32 // of the array
	sizes, strides []int64
	offset         int64
}

func (s *strided) Observe(o *asserts.Observation, level asserts.Level) {
	o.Impl, o.Storage, o.ImplUses, o.StorageUses = asserts.PointerID(s), asserts.SliceID(s.data), asserts.NotCounted, asserts.NotCounted
	o.Traits = asserts.NoVersion
	if level >= asserts.Content {
		asserts.ReadSlice(o, s.data, s.sizes, s.strides, s.offset)
	}
}

func newStrided(s maker.Spec) (*strided, error) {
	data, err := maker.Storage[float32](s)
	return &strided{data, s.Sizes, s.Strides, s.Offset}, err
}

// offsets are the positions of the elements, in row-major order.
func (s *strided) offsets() []int64 {
	all := []int64{s.offset}
	for d, n := range s.sizes {
		var next []int64
		for _, at := range all {
			for i := range n {
				next = append(next, at+i*s.strides[d])
			}
		}
		all = next
	}
	return all
}

func (s *strided) contiguous() *strided {
	c := &strided{sizes: s.sizes, strides: make([]int64, len(s.sizes))}
	for d, step := len(s.sizes)-1, int64(1); d >= 0; d-- {
		c.strides[d] = step
		step *= s.sizes[d]
	}
	for _, at := range s.offsets() {
		c.data = append(c.data, s.data[at])
	}
	return c
}

// Kernels with a fault.

func doublesACopy(s *strided) {
	like := s.contiguous()
	for d, n := range like.sizes {
		if n > 1 && like.strides[d] != s.strides[d] {
			s = like
		}
	}
	doubles(s)
}

func sumsTheArray(s *strided) *strided { return sum(s.data) }

func fillsAPart(_, out *strided) {
	for i, at := range out.offsets() {
		if i > 0 {
			out.data[at] = 1
		}
	}
}

// Kernels without one.

func doubles(s *strided) {
	for _, at := range s.offsets() {
		s.data[at] = 2*s.data[at] + 1
	}
}

func sums(s *strided) *strided { return sum(s.contiguous().data) }

func fills(_, out *strided) {
	for _, at := range out.offsets() {
		out.data[at] = 1
	}
}

func sum(data []float32) *strided {
	total := float32(0)
	for _, x := range data {
		total += x
	}
	return &strided{data: []float32{total}}
}

// In-place ops that leave strided views unchanged, results that depend on what is beside a tensor, and arguments for
// results that are filled in part are found.
func TestProbesOfKernelsInGo(t *testing.T) {
	const inPlace, unary, out = "f_(Tensor(a!) self) -> Tensor(a!)", "f(Tensor self) -> Tensor", "f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
	for name, tt := range map[string]struct {
		schema string
		kernel any
		want   string
	}{
		"doubles a copy":    {inPlace, doublesACopy, "OA012"},
		"doubles":           {inPlace, doubles, ""},
		"sums the array":    {unary, sumsTheArray, "OA021"},
		"sums the elements": {unary, sums, ""},
		"fills a part":      {out, fillsAPart, "OA020"},
		"fills":             {out, fills, ""},
	} {
		t.Run(name, func(t *testing.T) {
			op := &asserts.Op{Name: "aten::f", Schema: tt.schema, Args: []asserts.Subject{{Name: "self", Type: "Tensor"}}}
			switch tt.schema {
			case inPlace:
				op.Name = "aten::f_"
				op.Args = []asserts.Subject{{Name: "self", Type: "Tensor(a!)", Before: []string{"a"}, Write: true}}
			case unary:
				op.Results = []asserts.Subject{{Name: "result", Type: "Tensor"}}
			case out:
				op.Name = "aten::f.out"
				op.Args = append(op.Args, asserts.Subject{Index: 1, Name: "out", Type: "Tensor(a!)", Before: []string{"a"}, Write: true, Out: true})
			}
			lines := reported(func(t *testing.T) { optest.Run(t, []asserts.Kernel{{Op: op, Func: tt.kernel}}, newStrided) })
			if got := strings.Join(lines, "\n"); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" || len(lines) > 2 {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}
