// Package quickstart has the tensor type of the quick start, and kernels that do nothing.
package quickstart

import "github.com/opassert/opassert/asserts"

type Vector struct{ Data []float64 }

func (v *Vector) Observe(o *asserts.Observation, level asserts.Level) {
	asserts.ObserveSlice(o, level, v, v.Data, int64(len(v.Data)))
}

// New returns a vector of n elements.
func New(n int) *Vector { return &Vector{make([]float64, n)} }

// made are the vectors that the kernels return in turn.
var (
	made = [2]*Vector{New(16), New(16)}
	turn uint8
)

func fresh() *Vector {
	turn ^= 1
	return made[turn]
}

//opassert:kernel look
//go:noinline
func Look(self *Vector) int64 { return 1 }

//opassert:kernel unary
//go:noinline
func Unary(self *Vector) *Vector { return fresh() }

//opassert:kernel binary
//go:noinline
func Binary(self, other *Vector) *Vector { return fresh() }

//opassert:kernel join
//go:noinline
func Join(tensors []*Vector) *Vector { return fresh() }
