package c10

import (
	"cmp"
	"math/rand/v2"
	"sync"
)

// A Generator is a source of random numbers, the same for the same seed. Several goroutines may use it.
//
// Source: aten/src/ATen/core/Generator.h.
type Generator struct {
	mu  sync.Mutex
	rng *rand.Rand
}

// NewGenerator makes a generator.
func NewGenerator(seed uint64) *Generator { return &Generator{rng: rand.New(rand.NewPCG(seed, 0))} }

var defaultGenerator = NewGenerator(0)

// Seed sets the state of the default generator.
//
// Source: aten/src/ATen/Context.h, manual_seed.
func Seed(seed int64) {
	defaultGenerator.mu.Lock()
	defer defaultGenerator.mu.Unlock()
	defaultGenerator.rng = rand.New(rand.NewPCG(uint64(seed), 0))
}

// Uniform returns a number in [from, to); a nil generator is the default one.
func (g *Generator) Uniform(from, to float64) float64 {
	g = cmp.Or(g, defaultGenerator)
	g.mu.Lock()
	defer g.mu.Unlock()
	return from + (to-from)*g.rng.Float64()
}
