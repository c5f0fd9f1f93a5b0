package idle_test

import (
	"sync/atomic"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/gentest/internal/idle"
	"github.com/opassert/opassert/internal/testbed/gentest/internal/idle/checked"
	"github.com/opassert/opassert/internal/testbed/gentest/internal/idle/quickstart"
	"github.com/opassert/opassert/internal/testbed/gentest/internal/idle/quickstart/ops"
	"github.com/opassert/opassert/internal/testbed/gentest/internal/idle/release"
)

// A cost is an op called directly and through wrappers, on n tensors: one argument;
// one, two, and a list of fifteen with a result.
type cost struct {
	name                   string
	bare, release, checked func()
}

// costs are those of tensors that are observed by hand, and of the quick start's, by ObserveSlice.
func costs() []cost {
	tensors, slices := make([]*c10.Tensor, 15), make([]*quickstart.Vector, 15)
	for i := range tensors {
		tensors[i], slices[i] = c10.Full([]int64{16}, 0, c10.TensorOptions{}), quickstart.New(16)
	}
	a, b := tensors[0], tensors[1]
	x, y := slices[0], slices[1]
	return []cost{
		{"tensors=1", func() { idle.Look(a) }, func() { release.Look(a) }, func() { checked.Look(a) }},
		{"tensors=2", func() { idle.Unary(a) }, func() { release.Unary(a) }, func() { checked.Unary(a) }},
		{"tensors=3", func() { idle.Binary(a, b) }, func() { release.Binary(a, b) }, func() { checked.Binary(a, b) }},
		{"tensors=16", func() { idle.Join(tensors) }, func() { release.Join(tensors) }, func() { checked.Join(tensors) }},
		{"slices=1", func() { quickstart.Look(x) }, nil, func() { ops.Look(x) }},
		{"slices=2", func() { quickstart.Unary(x) }, nil, func() { ops.Unary(x) }},
		{"slices=3", func() { quickstart.Binary(x, y) }, nil, func() { ops.Binary(x, y) }},
		{"slices=16", func() { quickstart.Join(slices) }, nil, func() { ops.Join(slices) }},
	}
}

// BenchmarkYardstick measures the units of the costs of calls: absolute times differ
// too much between machines.
func BenchmarkYardstick(b *testing.B) {
	var n atomic.Int64
	var made *[128]byte
	for _, y := range []struct {
		name string
		work func()
	}{
		{"atomics", func() { n.Add(1); n.Add(1) }},
		{"allocation", func() { made = new([128]byte) }},
	} {
		b.Run(y.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				y.work()
			}
		})
	}
	_ = made
}

// BenchmarkCost measures a call: direct, through a wrapper of the release build, and
// through one that checks, at each level.
func BenchmarkCost(b *testing.B) {
	if asserts.Enabled {
		b.Skip("the release wrapper needs a build without the tag opassert")
	}
	for _, c := range costs() {
		for _, way := range []struct {
			name  string
			level asserts.Level
			call  func()
		}{
			{"bare", asserts.Off, c.bare},
			{"release", asserts.Off, c.release},
			{"off", asserts.Off, c.checked},
			{"identity", asserts.Identity, c.checked},
			{"contents", asserts.Content, c.checked},
		} {
			if way.call == nil {
				continue
			}
			b.Run(c.name+"/"+way.name, func(b *testing.B) {
				defer asserts.SetLevel(way.level)()
				for range 24 { // the first calls of an op are observed with contents
					way.call()
				}
				b.ReportAllocs()
				for b.Loop() {
					way.call()
				}
			})
		}
	}
}

// Without checks, and at the identity level, a checked call allocates nothing.
func TestIdentityAllocatesNothing(t *testing.T) {
	for _, level := range []asserts.Level{asserts.Off, asserts.Identity} {
		defer asserts.SetLevel(level)()
		for _, c := range costs() {
			if n := testing.AllocsPerRun(100, c.checked); n != 0 {
				t.Errorf("%v, %s: %v allocations", level, c.name, n)
			}
		}
	}
}

// At the content level it reuses the allocations of earlier calls.
func TestContentsAllocateNothing(t *testing.T) {
	defer asserts.SetLevel(asserts.Content)()
	for _, c := range costs() {
		for range 24 { // the first calls of an op are observed with contents
			c.checked()
		}
		if n := testing.AllocsPerRun(100, c.checked); n >= 1 {
			t.Errorf("%s: %v allocations: a check with usual.Asked has each call judged: list the facts under which it has nothing to report", c.name, n)
		}
	}
}
