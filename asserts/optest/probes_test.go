package optest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
	"github.com/opassert/opassert/asserts/optest"
)

// A strided tensor is a view of an array.
type strided struct {
	Data           []float32 // of the array
	sizes, strides []int64
	offset         int64
}

func (s *strided) Observe(o *asserts.Observation, level asserts.Level) {
	o.Impl, o.Storage, o.ImplUses, o.StorageUses = asserts.PointerID(s), asserts.SliceID(s.Data), asserts.NotCounted, asserts.NotCounted
	o.Traits = asserts.NoVersion
	if level >= asserts.Content {
		asserts.ReadSlice(o, s.Data, s.sizes, s.strides, s.offset)
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
		c.Data = append(c.Data, s.Data[at])
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

func sumsTheArray(s *strided) *strided { return sum(s.Data) }

func fillsAPart(_, out *strided) {
	for i, at := range out.offsets() {
		if i > 0 {
			out.Data[at] = 1
		}
	}
}

// remembered and copied are the sums of earlier calls, by address and by elements.
var (
	remembered = map[*strided]float32{}
	copied     = map[string]float32{}
)

func remembersAnAddress(s *strided) *strided {
	if _, ok := remembered[s]; !ok {
		remembered[s] = sums(s).Data[0]
	}
	return &strided{Data: []float32{remembered[s]}}
}

// Kernels without one.

func remembersElements(s *strided) *strided {
	key := fmt.Sprint(s.contiguous().Data)
	if _, ok := copied[key]; !ok {
		copied[key] = sums(s).Data[0]
	}
	return &strided{Data: []float32{copied[key]}}
}

func doubles(s *strided) {
	for _, at := range s.offsets() {
		s.Data[at] = 2*s.Data[at] + 1
	}
}

func sums(s *strided) *strided { return sum(s.contiguous().Data) }

func fills(_, out *strided) {
	for _, at := range out.offsets() {
		out.Data[at] = 1
	}
}

func sum(data []float32) *strided {
	total := float32(0)
	for _, x := range data {
		total += x
	}
	return &strided{Data: []float32{total}}
}

// In-place ops that leave strided views unchanged, results that depend on what is beside a tensor, or on what it held
// before a write, and arguments for results that are filled in part are found.
func TestProbesOfKernelsInGo(t *testing.T) {
	const inPlace, unary, out = "f_(Tensor(a!) self) -> Tensor(a!)", "f(Tensor self) -> Tensor", "f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
	for name, tt := range map[string]struct {
		schema string
		kernel any
		want   string
		saw    string
	}{
		"doubles a copy":       {inPlace, doublesACopy, "OA012", "the kernel writes argument self, but not where it is transposed"},
		"doubles":              {inPlace, doubles, "", ""},
		"sums the array":       {unary, sumsTheArray, "OA021", "depend on bytes beside an argument"},
		"sums the elements":    {unary, sums, "", ""},
		"remembers an address": {unary, remembersAnAddress, "OA021", "depend on the contents of the arguments in an earlier call"},
		"remembers elements":   {unary, remembersElements, "", ""},
		"fills a part":         {out, fillsAPart, "OA020", "are what it held before the call"},
		"fills":                {out, fills, "", ""},
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
			if got := strings.Join(lines, "\n"); !strings.HasPrefix(got, tt.want) || !strings.Contains(got, tt.saw) || tt.want == "" && got != "" || len(lines) > 2 {
				t.Errorf("got %s\nwant %s ... %s", got, tt.want, tt.saw)
			}
		})
	}
}
