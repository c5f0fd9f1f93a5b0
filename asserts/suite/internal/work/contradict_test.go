package work

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

// A finding tells which of kernel and meta kernel contradicts itself in calls that differ only in
// contents, sizes or strides.
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
		b := benchOf(t, "ns::f(Tensor a) -> Tensor", tt.kernel, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
		c := b.call(t, tt.arg)
		found := b.judge(b.t, must.Get(b.Try(b.t, c))(t), new(report.CaseResult))
		if len(found) != 1 || found[0].Violation.Code != asserts.MetaAlias {
			t.Fatalf("%s: found %s", tt.name, words(found))
		}
		b.contradicts(b.t, c, found[0])
		if got := found[0].Violation.Fix; !strings.HasPrefix(got, tt.want) || (tt.want == "") == strings.Contains(got, "contradicts itself") {
			t.Errorf("%s: %s, want %q", tt.name, got, tt.want)
		}
	}
}

// differs is a finding about a return that differs on a device.
func differs(on engine.Device, code asserts.Code) *report.Finding {
	return &report.Finding{Violation: &asserts.Violation{Code: code, Subject: asserts.Place{Return: true, Element: asserts.NoElement}}, Devices: []engine.Device{engine.CPU, on}}
}

// A called fake is compared with the kernel likewise.
func TestContradictsFake(t *testing.T) {
	negative := func(e *fakeEngine, args []any) ([]any, error) {
		x := e.like(first(args))
		if x.device == engine.CPU && (*x.data)[3]&0x80 != 0 {
			x.spec.DType = "int32"
		}
		return []any{x}, nil
	}
	b := benchOf(t, "ns::f(Tensor a) -> Tensor", negative, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
	e := &fakingEngine{fakeEngine: b.e, fake: &compare.Fake{}}
	e.fake.Seen.Results = []asserts.Observation{{Impl: 1, Content: &asserts.Snapshot{DType: "float32", Sizes: []int64{2}, Strides: []int64{1}}}}
	b.Engine = e
	f := differs(engine.Fake, asserts.MetaAlias)
	b.contradicts(b.t, b.call(t, "float32[2] negative"), f)
	if !strings.HasPrefix(f.Violation.Fix, "the kernel contradicts itself: for similar arguments, ns::f(a=float32[2])") {
		t.Errorf("the fix is %q", f.Violation.Fix)
	}
	e.fake = nil
	clear(b.t.fakeCalls)
	f = differs(engine.Fake, asserts.MetaAlias)
	if b.contradicts(b.t, b.call(t, "float32[2] negative"), f); f.Violation.Fix != "" {
		t.Errorf("without a fake the fix is %q", f.Violation.Fix)
	}
}

// Calls that the kernel refuses, there or on meta, show nothing; for PyTorch's own ops, and for
// other findings, none are made.
func TestContradictsNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		added  bool
		code   asserts.Code
		throws func(call int, x *fakeTensor) bool
		calls  int
	}{
		{"all calls", true, asserts.MetaAlias, func(int, *fakeTensor) bool { return false }, 18},
		{"the first throws", true, asserts.MetaAlias, func(call int, _ *fakeTensor) bool { return call == 1 }, 1},
		{"the first throws on meta", true, asserts.MetaAlias, func(call int, _ *fakeTensor) bool { return call == 2 }, 2},
		{"others throw", true, asserts.MetaAlias, func(_ int, x *fakeTensor) bool { return x.spec.Sizes[0] > 2 }, 16},
		{"others throw on meta", true, asserts.MetaAlias, func(_ int, x *fakeTensor) bool { return x.device == engine.Meta && x.spec.Sizes[0] > 2 }, 18},
		{"PyTorch's own", false, asserts.MetaAlias, func(int, *fakeTensor) bool { return false }, 0},
		{"another finding", true, asserts.UndeclaredAlias, func(int, *fakeTensor) bool { return false }, 0},
	} {
		calls := 0
		kernel := func(e *fakeEngine, args []any) ([]any, error) {
			if calls++; tt.throws(calls, first(args)) {
				return nil, &engine.Thrown{Message: "not taken"}
			}
			return copies(e, args)
		}
		b := benchOf(t, "ns::f(Tensor a) -> Tensor", kernel, func(o *engine.Operator, _ *engine.Checks) { o.Added = tt.added }, "")
		f := differs(engine.Meta, tt.code)
		b.contradicts(b.t, b.call(t, "float32[2]"), f)
		if f.Violation.Fix != "" || calls != tt.calls {
			t.Errorf("%s: %d calls, want %d, the fix is %q", tt.name, calls, tt.calls, f.Violation.Fix)
		}
	}
}

// The search is made for each finding, unless a worker ended in one.
func TestRanContradicts(t *testing.T) {
	small := func(e *fakeEngine, args []any) ([]any, error) {
		x := e.like(first(args))
		if x.device == engine.CPU && x.spec.Sizes[0] == 2 {
			x.spec.DType = "int32"
		}
		return []any{x}, nil
	}
	for _, asItIs := range []bool{false, true} {
		b := benchOf(t, "ns::f(Tensor a) -> Tensor", small, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
		b.t.AsItIs = asItIs
		var result report.CaseResult
		b.judgeRun(b.t, must.Get(b.Try(b.t, b.call(t, "float32[2]")))(t), &result)
		if len(result.Found) != 1 || strings.Contains(result.Found[0].Violation.Fix, "contradicts itself") == asItIs {
			t.Errorf("as it is %v: found %s", asItIs, words(result.Found))
		}
	}
}
