package c10

import (
	"math/rand/v2"
	"sync"
)

// A Generator is a source of random numbers that returns the same ones for the
// same seed. It may be used by several goroutines.
//
// Source: aten/src/ATen/core/Generator.h.
type Generator struct {
	mu  sync.Mutex
	rng *rand.Rand
}

// NewGenerator makes a generator.
func NewGenerator(seed uint64) *Generator {
	return &Generator{rng: rand.New(rand.NewPCG(seed, 0))}
}

var defaultGenerator = NewGenerator(0)

// Seed sets the state of the default generator.
//
// Source: aten/src/ATen/Context.h, manual_seed.
func Seed(seed int64) {
	defaultGenerator.mu.Lock()
	defer defaultGenerator.mu.Unlock()
	defaultGenerator.rng = rand.New(rand.NewPCG(uint64(seed), 0))
}

// pick returns the default generator for a nil one.
func (g *Generator) pick() *Generator {
	if g == nil {
		return defaultGenerator
	}
	return g
}

// Uniform returns a number in [from, to).
func (g *Generator) Uniform(from, to float64) float64 {
	g = g.pick()
	g.mu.Lock()
	defer g.mu.Unlock()
	return from + (to-from)*g.rng.Float64()
}

// Normal returns a normally distributed number.
func (g *Generator) Normal(mean, std float64) float64 {
	g = g.pick()
	g.mu.Lock()
	defer g.mu.Unlock()
	return mean + std*g.rng.NormFloat64()
}
