package work

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/must"
)

// A finding says which of kernel and meta kernel contradicts itself in calls that are
// alike but for contents, sizes or strides.
func TestContradicts(t *testing.T) {
	odd := func(when func(*fakeTensor) bool) func(*fakeEngine, []any) ([]any, error) {
		return func(e *fakeEngine, args []any) ([]any, error) {
			d := first(args).spec
			if first(args).device == engine.CPU && when(first(args)) {
				d.DType = "int32"
			}
			d.Data = *first(args).data
			return []any{e.tensor(d, engine.Strided, first(args).device)}, nil
		}
	}
	onMeta := func(e *fakeEngine, args []any) ([]any, error) {
		d := first(args).spec
		if first(args).device == engine.Meta && d.Sizes[0] == 2 {
			d.DType = "int32"
		}
		d.Data = *first(args).data
		return []any{e.tensor(d, engine.Strided, first(args).device)}, nil
	}
	const kernel, other = "the kernel contradicts itself", "the fake contradicts itself"
	for _, tt := range []struct {
		name, arg string
		kernel    func(*fakeEngine, []any) ([]any, error)
		want      string
	}{
		{"contents", "float32[2] negative", odd(func(x *fakeTensor) bool { return (*x.data)[3]&0x80 != 0 }), kernel},
		{"values", "float32[2] = [7, 7]", odd(func(x *fakeTensor) bool { return (*x.data)[2] == 0xe0 }), kernel},
		{"zeros", "float32[2]", odd(func(x *fakeTensor) bool { return (*x.data)[3] != 0 }), kernel},
		{"signs", "float32[2] const:0", odd(func(x *fakeTensor) bool { return (*x.data)[3]&0x80 == 0 }), kernel},
		{"sizes", "float32[2]", odd(func(x *fakeTensor) bool { return x.spec.Sizes[0] == 2 }), kernel},
		{"one size", "float32[2]", odd(func(x *fakeTensor) bool { return x.spec.Sizes[0] != 4 }), kernel},
		{"strides", "float32[2, 3] transposed", odd(func(x *fakeTensor) bool { return x.spec.Strides[1] > 1 }), kernel},
		{"contiguous", "float32[2, 3]", odd(func(x *fakeTensor) bool { return x.spec.Strides[1] == 1 }), kernel},
		{"sliced", "float32[2]", odd(func(x *fakeTensor) bool { return x.spec.Strides[0] == 1 }), kernel},
		{"always", "float32[2]", odd(func(*fakeTensor) bool { return true }), ""},
		{"on meta", "float32[2]", onMeta, other},
	} {
		b := benchOf(t, "ns::f(Tensor a) -> Tensor", tt.kernel, func(o *engine.Operator, _ *engine.Plan) { o.Added = true }, "")
		c := b.call(t, tt.arg)
		found := b.judge(b.t, must.Get(b.Try(b.t, c))(t), new(report.Case))
		if len(found) != 1 || found[0].Violation.Code != asserts.MetaAlias {
			t.Fatalf("%s: found %s", tt.name, words(found))
		}
		b.contradicts(b.t, c, found[0])
		if got := found[0].Violation.Fix; !strings.HasPrefix(got, tt.want) || (tt.want == "") == strings.Contains(got, "contradicts itself") {
			t.Errorf("%s: %s, want %q", tt.name, got, tt.want)
		}
	}
}
