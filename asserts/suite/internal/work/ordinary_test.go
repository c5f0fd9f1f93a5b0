package work

import (
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A call is ordinary if its tensors agree where those of the first call that ran do.
func TestUnusual(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a, Tensor? b, Tensor c) -> Tensor", copies)
	if got := b.t.unusual(b.call(t, "float32[2]", "float64[3]", "int64[0]")); got != "" {
		t.Errorf("before a call ran: %q", got)
	}
	b.t.Ran = append(b.t.Ran, b.call(t, "float32[2]", "float32[2]", "int64[3]"))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"float64[4]", "float64[4]", "float64[1]"}, ""},
		{[]string{"float32[2]", "float64[2]", "int64[3]"}, "where dtypes differ"},
		{[]string{"float32[2]", "float32[3]", "int64[3]"}, "where sizes differ"},
		{[]string{"float32[0]", "float32[0]", "int64[3]"}, "for empty tensors"},
		{[]string{"float32[2]", "none", "int64[3]"}, "without b"},
	} {
		if got := b.t.unusual(b.call(t, tt.args...)); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.args, got, tt.want)
		}
	}
	ordinary, unusual := b.call(t, "float32[2]", "float32[2]", "int64[3]"), b.call(t, "float32[2]", "none", "int64[3]")
	for want, calls := range map[bool][]*sample.Case{true: {unusual, unusual}, false: {ordinary, unusual}} {
		f := &report.Finding{Violation: &asserts.Violation{Code: asserts.MetaAlias}}
		if b.t.limit(f, calls...); (f.Violation.Note != "") != want {
			t.Errorf("limited: %v, note %q", want, f.Violation.Note)
		}
	}
	shared := b.call(t, "float32[2]", "float64[3]", "int64[3]")
	shared.Tensors()[1].Same = 1
	if got := b.t.unusual(shared); got != "" {
		t.Errorf("where an argument is the tensor of another: %q", got)
	}
	b.t.Ran[0] = b.call(t, "float32[0]", "float32[0]", "int64[3]")
	if got := b.t.unusual(b.call(t, "float32[0]", "float32[0]", "int64[3]")); got != "" {
		t.Errorf("where the first call has empty tensors: %q", got)
	}
	b.t.Ran[0] = unusual
	if got := b.t.unusual(unusual); got != "" {
		t.Errorf("where the first call has no second tensor: %q", got)
	}
}

// An op's own kernel for meta is broken if it throws in every one of some calls, or in a single one that is asked for.
func TestBrokenMeta(t *testing.T) {
	throws := func(*fakeEngine, []any) ([]any, error) { return nil, &engine.Thrown{Message: "Could not run it"} }
	b := newBench(t, "ns::f(Tensor a) -> Tensor", throws)
	for _, own := range []bool{false, true} {
		b.t.operator.OnMeta = own
		b.callTwins(b.t, &deviceCall{on: engine.Meta})
		if want := map[bool]int{true: 1}[own]; b.t.metaThrew != want {
			t.Errorf("own %v: %d calls threw, want %d", own, b.t.metaThrew, want)
		}
	}
	for _, tt := range []struct {
		threw  int
		single bool
		want   int
	}{
		{enoughThrown - 1, false, 0}, {enoughThrown, false, 1}, {1, true, 1}, {0, true, 0},
	} {
		b.t.metaThrew, b.t.Single = tt.threw, tt.single
		if got := b.t.brokenMeta(&deviceCall{on: engine.Meta, said: "no"}); len(got) != tt.want {
			t.Errorf("%d calls threw, alone %v: %v", tt.threw, tt.single, got)
		}
	}
}
