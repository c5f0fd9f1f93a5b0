package work

import (
	"testing"

	"github.com/opassert/opassert/asserts/suite/engine"
)

// Of values that differ from those of the CPU, those that are not reproducible are left out,
// separately for each result, if both calls can be repeated, and with no other call than those two.
func TestSettled(t *testing.T) {
	const one, two = "t::f(Tensor a) -> Tensor", "t::f(Tensor a) -> (Tensor x, Tensor y)"
	var calls map[engine.Device]int
	// results differs from the CPU in its first result, and in its last between any two calls.
	results := func(e *fakeEngine, args []any) ([]any, error) {
		x, y := e.like(first(args)), e.like(first(args))
		calls[x.device]++
		if x.device == "openreg" {
			(*x.data)[0] ^= 1
			(*y.data)[0] = byte(calls[x.device])
		}
		return []any{x, y}, nil
	}
	last := func(before func(e *fakeEngine) error) func(*fakeEngine, []any) ([]any, error) {
		return func(e *fakeEngine, args []any) ([]any, error) {
			if err := before(e); err != nil {
				return nil, err
			}
			all, _ := results(e, args)
			all[0].(*fakeTensor).Release()
			return all[1:], nil
		}
	}
	for _, tt := range []struct {
		name, schema, found string
		kernel              func(*fakeEngine, []any) ([]any, error)
		calls               int // on openreg, and on cpu
	}{
		{"one of two", two, "OA011 result x on openreg, cpu", results, 2},
		{"all", one, "", last(func(*fakeEngine) error { return nil }), 2},
		{"no seed", one, "OA011 result on openreg, cpu", last(func(e *fakeEngine) error { e.seed = errOurs; return nil }), 1},
		{"throws again", one, "OA011 result on openreg, cpu", last(func(*fakeEngine) error {
			if calls["openreg"] == 1 && calls[engine.CPU] == 1 && calls[engine.Meta] == 1 {
				return &engine.Thrown{Message: "no"}
			}
			return nil
		}), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls = make(map[engine.Device]int)
			b := newBench(t, tt.schema, tt.kernel)
			b.e.devices, b.Tolerance = []engine.Device{"openreg", engine.CPU, engine.Meta}, 1e-9
			found, _ := b.judged(t, "int64[2]")
			if got := words(found); got != tt.found {
				t.Errorf("found %q, want %q", got, tt.found)
			}
			if calls["openreg"] != tt.calls || calls[engine.CPU] != tt.calls || calls[engine.Meta] != 1 {
				t.Errorf("calls %v, want %d on openreg and cpu, 1 on meta", calls, tt.calls)
			}
			b.earlier.release()
			if b.e.live > 0 {
				t.Errorf("%d tensors are left", b.e.live)
			}
		})
	}
}
