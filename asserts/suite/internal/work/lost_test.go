package work

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
)

// lostBench is an op of a library whose kernel writes certain arguments.
func lostBench(t *testing.T, writes func(i int, x *fakeTensor) bool) *bench {
	kernel := func(e *fakeEngine, args []any) ([]any, error) {
		for i, x := range tensorsOf(args) {
			if writes(i, x) {
				x.write()
			}
		}
		return nil, nil
	}
	added := func(o *engine.Operator, _ *engine.Checks) { o.Added = true }
	return benchOf(t, "ns::f(Tensor(a!) a, Tensor(b!)[] b) -> ()", kernel, added, "")
}

// lost returns the arguments of a call whose writes are lost, and the number of other calls; -1 if
// one is counted as not made.
func (b *bench) lost(t *testing.T, c *sample.Case) (arguments []string, calls int) {
	t.Helper()
	a, err := b.Try(b.t, c)
	if err != nil {
		t.Fatal(err)
	}
	b.e.called = nil
	faults, skips := b.Runner.lost(b.t, a)
	if len(skips) > 0 {
		calls = -1
	}
	for _, f := range faults {
		if f.Code != asserts.SchemaLint || f.Note == "" {
			t.Errorf("%+v is no note of OA012", f)
		}
		arguments = append(arguments, f.Argument)
	}
	for _, call := range b.e.called {
		if strings.HasSuffix(call, " on cpu") {
			calls++
		}
	}
	return arguments, calls
}

func isFlat(x *fakeTensor) bool {
	return slices.IsSortedFunc(x.spec.Strides, func(a, b int64) int { return int(b - a) })
}

// A write that does not reach a transposed tensor is lost, if it reaches a contiguous one.
func TestLost(t *testing.T) {
	first := func(i int, x *fakeTensor) bool { return i == 0 && isFlat(x) }
	for _, tt := range []struct {
		name   string
		writes func(int, *fakeTensor) bool
		a, b   string
		want   string
		calls  int
	}{
		{"of the first", first, "float32[2, 3]", "[float32[2]]", "[a]", 1},
		{"of an element", func(i int, x *fakeTensor) bool { return i == 2 && isFlat(x) }, "float32[2, 3]", "[float32[2], float32[4, 2]]", "[b]", 1},
		{"of none", func(int, *fakeTensor) bool { return true }, "float32[2, 3]", "[float32[2]]", "[]", 1},
		{"never written", func(int, *fakeTensor) bool { return false }, "float32[2, 3]", "[float32[2]]", "[]", 0},
		{"of a vector", first, "float32[3]", "[float32[2, 3]]", "[]", 0},
		{"of a transposed one", func(int, *fakeTensor) bool { return true }, "float32[2, 3] transposed", "[float32[2]]", "[]", 0},
		{"of a row, which transposing leaves flat", func(i int, x *fakeTensor) bool { return i == 0 && x.spec.Strides[0] > 1 }, "float32[1, 3]", "[float32[2]]", "[]", 1},
		{"not plain", first, "float32[2, 3] neg", "[float32[2]]", "[]", 0},
	} {
		b := lostBench(t, tt.writes)
		got, calls := b.lost(t, b.call(t, tt.a, tt.b))
		if fmt.Sprint(got) != tt.want || calls != tt.calls {
			t.Errorf("%s: lost are %v by %d calls, want %s by %d", tt.name, got, calls, tt.want, tt.calls)
		}
	}
}

// A result that does not reach a tensor of other sizes is lost, if it reaches one that fits.
func TestIgnoredOuts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		kernel func(e *fakeEngine, x, out *fakeTensor) error
		out    string
		want   string
		skips  int
	}{
		{"ignores", func(_ *fakeEngine, x, out *fakeTensor) error {
			if slices.Equal(x.spec.Sizes, out.spec.Sizes) {
				out.write()
			}
			return nil
		}, "float32[3]", "[out]", 0},
		{"writes each", func(_ *fakeEngine, _, out *fakeTensor) error { out.write(); return nil }, "float32[3]", "[]", 0},
		{"never writes", func(*fakeEngine, *fakeTensor, *fakeTensor) error { return nil }, "float32[3]", "[]", 0},
		{"refuses", func(_ *fakeEngine, x, out *fakeTensor) error {
			if !slices.Equal(x.spec.Sizes, out.spec.Sizes) {
				return &engine.Thrown{Message: "sizes"}
			}
			out.write()
			return nil
		}, "float32[3]", "[]", 1},
	} {
		kernel := func(e *fakeEngine, args []any) ([]any, error) {
			ts := tensorsOf(args)
			if !slices.Equal(ts[0].spec.Sizes, []int64{3}) {
				t.Errorf("%s: what it reads has the sizes %v", tt.name, ts[0].spec.Sizes)
			}
			return nil, tt.kernel(e, ts[0], ts[1])
		}
		added := func(o *engine.Operator, _ *engine.Checks) { o.Added = true }
		b := benchOf(t, "ns::f(Tensor a, *, Tensor(a!) out) -> ()", kernel, added, "")
		var skips []asserts.Skip
		for range mostRefused + 1 {
			a, err := b.Try(b.t, b.call(t, "float32[3]", tt.out))
			must.Do(t, err)
			var faults []asserts.Fault
			faults, skips = b.Runner.lost(b.t, a)
			got := []string{}
			for _, f := range faults {
				got = append(got, f.Argument)
			}
			if fmt.Sprint(got) != tt.want {
				t.Errorf("%s: lost are %v, want %s", tt.name, got, tt.want)
			}
		}
		if len(skips) != tt.skips {
			t.Errorf("%s: after %d calls %d skips, want %d", tt.name, mostRefused, len(skips), tt.skips)
		}
	}
}

// No other call is made once a strided argument was changed, or the kernel refuses it.
func TestLostIsAskedOnce(t *testing.T) {
	flat := func(b *bench) int {
		_, calls := b.lost(t, b.call(t, "float32[2, 3]", "[float32[2]]"))
		return calls
	}
	b := lostBench(t, func(i int, _ *fakeTensor) bool { return i == 0 })
	if flat(b) != 1 || flat(b) != 0 {
		t.Error("an argument that was changed where it is strided is asked again, or was not asked")
	}
	b = lostBench(t, func(i int, _ *fakeTensor) bool { return i == 0 })
	b.lost(t, b.call(t, "float32[2, 3] transposed", "[float32[2]]"))
	if flat(b) != 0 {
		t.Error("an argument that a class changed where it is strided is asked")
	}
	refuses := func(e *fakeEngine, args []any) ([]any, error) {
		if !isFlat(first(args)) {
			return nil, &engine.Thrown{Message: "not contiguous"}
		}
		first(args).write()
		return nil, nil
	}
	b = benchOf(t, "ns::f(Tensor(a!) a, Tensor(b!)[] b) -> ()", refuses, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
	for range mostRefused {
		if flat(b) != 1 {
			t.Error("a kernel that refuses is not asked")
		}
	}
	if flat(b) != -1 {
		t.Errorf("a kernel that refuses is asked more than %d times, or that it is not asked is not counted", mostRefused)
	}
	a, err := b.Try(b.t, b.call(t, "float32[2, 3]", "[float32[2]]"))
	must.Do(t, err)
	result := new(report.CaseResult)
	b.judge(b.t, a, result)
	if skips := result.Devices.Sum().Skips; !slices.ContainsFunc(skips, func(s asserts.Skip) bool { return s.Code == asserts.SchemaLint }) {
		t.Errorf("skipped are %v, and not what is not asked", skips)
	}
	b = lostBench(t, func(i int, x *fakeTensor) bool { return isFlat(x) })
	for range mostRefused + 1 {
		if flat(b) != 1 {
			t.Error("a write that is lost is not found again")
		}
	}
	b.t.operator.Added = false
	if flat(b) != 0 {
		t.Error("an op of PyTorch's own is asked")
	}
}
