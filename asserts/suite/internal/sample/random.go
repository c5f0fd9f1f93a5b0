package sample

import (
	"hash/fnv"
	"math/rand/v2"
)

// NewRandom returns the random numbers of one case, which depend only on the seed, the op and the number.
func NewRandom(seed uint64, op string, number int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(op))
	return rand.New(rand.NewPCG(seed, h.Sum64()+uint64(number)*0x9e3779b97f4a7c15))
}

func Pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// OneIn returns true once in n times on average.
func OneIn(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }
