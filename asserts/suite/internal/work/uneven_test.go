package work

import (
	"fmt"
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
)

// unevenBench is an op of a library on two matrices, whose kernel accepts sizes that fit.
func unevenBench(t *testing.T, fits func(a, b []int64) bool) *bench {
	kernel := func(e *fakeEngine, args []any) ([]any, error) {
		if ts := tensorsOf(args); !fits(ts[0].spec.Sizes, ts[1].spec.Sizes) {
			return nil, &engine.Thrown{Message: "sizes do not fit"}
		}
		return copies(e, args)
	}
	added := func(o *engine.Operator, _ *engine.Checks) { o.Added = true }
	return benchOf(t, "ns::f(Tensor a, Tensor b, int n) -> Tensor", kernel, added, "")
}

// uneven returns the repeated call, or "".
func (b *bench) uneven(c *sample.Case) string {
	a := b.Runner.uneven(b.t, c)
	if a == nil {
		return ""
	}
	return a.c.String()
}

func anything(_, _ []int64) bool { return true }

// A call with square matrices is repeated with unequal sizes, in the first way that the kernel
// accepts.
func TestUneven(t *testing.T) {
	for _, tt := range []struct {
		name, a, b, want string
		fits             func(a, b []int64) bool
	}{
		{"a product", "float32[3, 3]", "float32[3, 3]", "a=float32[4, 3], b=float32[3, 5]", func(a, b []int64) bool { return a[1] == b[0] }},
		{"of batches", "float32[2, 3, 3]", "float32[2, 3, 3]", "a=float32[2, 4, 3], b=float32[2, 3, 5]", func(a, b []int64) bool { return a[2] == b[1] }},
		{"a product with a transposed one", "float32[3, 3]", "float32[3, 3]", "a=float32[4, 3], b=float32[5, 3]", func(a, b []int64) bool { return a[1] == b[1] }},
		{"alike", "float32[3, 3]", "float32[3, 3]", "a=float32[4, 3], b=float32[4, 3]", slices.Equal[[]int64]},
		{"the first alone", "float32[3, 3]", "float32[3, 3]", "a=float32[4, 3], b=float32[3, 3]", func(_, b []int64) bool { return b[0] == 3 && b[1] == 3 }},
		{"a vector beside", "float32[3, 3]", "float32[3]", "a=float32[4, 5], b=float32[3]", anything},
		{"one of two is square", "float32[2, 3]", "float32[3, 3]", "a=float32[3, 3], b=float32[3, 5]", anything},
		{"none fits", "float32[3, 3]", "float32[3, 3]", "", func(a, _ []int64) bool { return a[0] == a[1] && a[0] == 3 }},
		{"not square", "float32[2, 3]", "float32[3, 2]", "", anything},
		{"vectors", "float32[3]", "float32[3]", "", anything},
		{"not plain", "float32[3, 3] neg", "float32[3, 3]", "", anything},
	} {
		b := unevenBench(t, tt.fits)
		got := b.uneven(b.call(t, tt.a, tt.b, "1"))
		want := tt.want
		if want != "" {
			want = fmt.Sprintf("ns::f(%s, c=1)", want)
		}
		if got != want {
			t.Errorf("%s: the call is %q, want %q", tt.name, got, want)
		}
	}
}

// It is repeated once for each setting of the other arguments, up to a limit, if a fake or a kernel
// for meta is called at all.
func TestUnevenOnce(t *testing.T) {
	b := unevenBench(t, anything)
	made := func(a, n string) bool { return b.uneven(b.call(t, a, "float32[3, 3]", n)) != "" }
	if b.uneven(b.call(t, "float32[3]", "float32[3]", "1")) != "" || !made("float32[3, 3]", "1") || made("float32[3, 3]", "1") || made("float64[8, 8]", "1") {
		t.Error("a setting has no call, or two")
	}
	for n := 2; n <= mostSettings; n++ {
		if !made("float32[3, 3]", fmt.Sprint(n)) {
			t.Errorf("setting %d has no call", n)
		}
	}
	if made("float32[3, 3]", "100") {
		t.Errorf("there is a call for more than %d settings", mostSettings)
	}
	b = unevenBench(t, anything)
	if b.uneven(b.call(t, "float32[2, 3]", "float32[3, 4]", "1")) != "" || made("float32[3, 3]", "1") {
		t.Error("a setting of which sizes differed has another call")
	}
	b = unevenBench(t, anything)
	b.t.operator.Added = false
	if made("float32[3, 3]", "1") {
		t.Error("there is a call of an op of PyTorch's own")
	}
	b.t.operator.Added, b.Level = true, asserts.Content
	if made("float32[3, 3]", "1") {
		t.Error("there is a call below the level meta")
	}
	b.Level = asserts.Meta
	c := b.call(t, "float32[3, 3]", "float32[3, 3]", "1")
	c.Tensors()[1].Same = 1
	if b.uneven(c) != "" {
		t.Error("there is a call of tensors that are one")
	}
}

// Findings and judged checks of that call belong to its case.
func TestUnevenIsOfItsCase(t *testing.T) {
	b := benchOf(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if sizes := first(args).spec.Sizes; len(sizes) == 2 && sizes[0] != sizes[1] {
			return returnsInput(e, args)
		}
		return copies(e, args)
	}, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
	result := report.CaseResult{Case: 7, Devices: make(report.Devices)}
	b.ranOnce(b.t, must.Get(b.Try(b.t, b.call(t, "float32[3, 3]")))(t), &result)
	if got := words(result.Found); len(result.Found) == 0 || result.Found[0].Case != 7 {
		t.Errorf("found %q of case 7", got)
	}
	if result.Devices[engine.CPU].Judged == (asserts.Counts{}) {
		t.Error("what is judged is not counted")
	}
}
