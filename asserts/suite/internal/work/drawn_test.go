package work

import (
	"fmt"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// A result that depends on the seed is noted for an op that is not declared random, once for each
// setting of its other arguments.
func TestDrawn(t *testing.T) {
	result := func(e *fakeEngine, args []any, value byte) ([]any, error) {
		r := e.like(first(args))
		(*r.data)[0] = value
		return []any{r}, nil
	}
	random := func(e *fakeEngine, args []any) ([]any, error) { return result(e, args, byte(e.generator)) }
	number := byte(0)
	counting := func(e *fakeEngine, args []any) ([]any, error) {
		number++
		return result(e, args, number)
	}
	refusing := func(e *fakeEngine, args []any) ([]any, error) {
		if e.generator == 8 {
			return nil, &engine.Thrown{Message: "no"}
		}
		return random(e, args)
	}
	for _, tt := range []struct {
		name   string
		kernel func(*fakeEngine, []any) ([]any, error)
		change func(*bench)
		want   int
	}{
		{"random", random, func(*bench) {}, 1},
		{"another each time", counting, func(*bench) {}, 0},
		{"always the same", copies, func(*bench) {}, 0},
		{"refuses a seed", refusing, func(*bench) {}, 0},
		{"of PyTorch", random, func(b *bench) { b.t.operator.Added = false }, 0},
		{"says so", random, func(b *bench) { b.t.operator.Schema.Tags = []string{"nondeterministic_seeded"} }, 0},
		{"no seed", random, func(b *bench) { b.e.seed = errOurs }, 0},
	} {
		b := benchOf(t, "ns::f(Tensor a, int n) -> Tensor", tt.kernel, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
		b.Seed = 7
		skipped := 0
		drawn := func(n string) int {
			c := b.call(t, "uint8[3]", n)
			seen := b.seenAgain(b.t, c, firstTime)[0]
			tt.change(b)
			faults, skips := b.drawn(b.t, &attempt{c: c, calls: []deviceCall{{seen: seen}}})
			skipped = len(skips)
			for _, f := range faults {
				if f.Code != asserts.NondeterministicResult || f.Saw != "1 of 3 bytes depend on the seed of the default generators" || f.Note == "" {
					t.Errorf("%s: %+v", tt.name, f)
				}
			}
			b.e.seed = nil
			return len(faults)
		}
		if got := drawn("1"); got != tt.want {
			t.Errorf("%s: %d notes, want %d", tt.name, got, tt.want)
		}
		if drawn("1") > 0 || skipped > 0 {
			t.Errorf("%s: a setting is asked twice, or counted as not asked", tt.name)
		}
		for n := 2; n <= mostSettings; n++ {
			if got := drawn(fmt.Sprint(n)); got != tt.want {
				t.Errorf("%s: %d notes of setting %d, want %d", tt.name, got, n, tt.want)
			}
		}
		asked := tt.name != "of PyTorch" && tt.name != "says so"
		if drawn("100") > 0 || (skipped == 1) != asked {
			t.Errorf("%s: more than %d settings are asked, or %d are counted as not asked", tt.name, mostSettings, skipped)
		}
		if b.e.live > 0 {
			t.Errorf("%s: %d tensors are left", tt.name, b.e.live)
		}
	}
}
