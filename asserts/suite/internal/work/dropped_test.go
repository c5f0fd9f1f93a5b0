package work

import (
	"fmt"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

// A copying engine has kernels that write copies of arguments, which it tracks.
type copying struct {
	*fakeEngine
	dropped  map[string]asserts.Site
	followed int
	without  bool // without Python
}

func (c *copying) HasRules() bool { return !c.without }

func (*copying) Rules(*asserts.Op, []any) ([]asserts.Fault, string) { return nil, "" }

func (c *copying) LostWrites(*asserts.Op, []any) map[string]asserts.Site {
	c.followed++
	return c.dropped
}

// A call that does not change an argument is tracked, up to a limit; a copy that is never read is
// noted.
func TestDropped(t *testing.T) {
	line := asserts.Site{File: "ops.py", Line: 3}
	all := map[string]asserts.Site{"a": line, "b": line}
	for _, tt := range []struct {
		name    string
		writes  int // the argument that the kernel writes
		a       string
		change  func(*bench)
		want    string
		skipped int
	}{
		{"of the first", 1, "float32[2]", func(*bench) {}, "[a]", 0},
		{"of the second", 0, "float32[2]", func(*bench) {}, "[b]", 0},
		{"of none", -1, "float32[2]", func(*bench) {}, "[]", 0},
		{"not plain", 1, "float32[2] neg", func(*bench) {}, "[]", 0},
		{"of PyTorch", 1, "float32[2]", func(b *bench) { b.t.operator.Added = false }, "[]", 0},
		{"after some", 1, "float32[2]", func(b *bench) { b.t.unwrittenCalls = mostSettings - 1 }, "[a]", 0},
		{"after many", 1, "float32[2]", func(b *bench) { b.t.unwrittenCalls = mostSettings }, "[]", 1},
		{"of kernels that are not Python's, after many", 1, "float32[2]", func(b *bench) {
			b.t.unwrittenCalls = mostSettings
			b.Engine.(*copying).without = true
		}, "[]", 0},
		{"of an engine that does not follow", 1, "float32[2]", func(b *bench) { b.Engine = b.e }, "[]", 0},
	} {
		kernel := func(e *fakeEngine, args []any) ([]any, error) {
			for i, x := range tensorsOf(args) {
				if i == tt.writes || tt.writes < 0 {
					x.write()
				}
			}
			return nil, nil
		}
		b := benchOf(t, "ns::f(Tensor(a!) a, Tensor(b!) b) -> ()", kernel, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
		follows := &copying{fakeEngine: b.e, dropped: all}
		b.Engine = follows
		tt.change(b)
		a := must.Get(b.Try(b.t, b.call(t, tt.a, "float32[2]")))(t)
		faults, skips := b.dropped(b.t, a)
		var got []string
		for _, f := range faults {
			if f.Code != asserts.SchemaLint || f.Note == "" || f.Site != line {
				t.Errorf("%s: %+v is no note of OA012 at its line", tt.name, f)
			}
			got = append(got, f.Argument)
		}
		if fmt.Sprint(got) != tt.want || len(skips) != tt.skipped || follows.followed != len(got) {
			t.Errorf("%s: dropped are %v by %d calls, skips %v; want %s, %d skips", tt.name, got, follows.followed, skips, tt.want, tt.skipped)
		}
		if b.e.live != 0 {
			t.Errorf("%s: %d tensors live", tt.name, b.e.live)
		}
		result := new(report.CaseResult)
		b.judge(b.t, a, result)
		if n := len(result.Devices.Sum().Skips); tt.skipped > 0 && n == 0 {
			t.Errorf("%s: that a call is not followed is not counted", tt.name)
		}
	}
}
