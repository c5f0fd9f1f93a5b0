// Package vector is a small tensor library, as a user of opassert would write
// one: it has no use counts, so it says so.
package vector

import (
	"hash/maphash"
	"math"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
)

// A Buffer is memory that vectors may share.
type Buffer struct {
	id   asserts.ID
	data []float64
}

// A Vector is a window onto a Buffer.
type Vector struct {
	id          asserts.ID
	version     *uint32 // shared by all windows onto one buffer
	buffer      *Buffer
	offset, len int
}

// New makes a vector with a buffer of its own.
func New(data ...float64) *Vector {
	return &Vector{
		id:      asserts.NewID(),
		version: new(uint32),
		buffer:  &Buffer{asserts.NewID(), data},
		len:     len(data),
	}
}

// Window returns another vector onto the same buffer; it panics as a slice does.
func (v *Vector) Window(from, to int) *Vector {
	_ = v.Data()[from:to:v.len]
	return &Vector{asserts.NewID(), v.version, v.buffer, v.offset + from, to - from}
}

// Data returns the elements, to read.
func (v *Vector) Data() []float64 { return v.buffer.data[v.offset : v.offset+v.len] }

// Mutable returns the elements, to write.
func (v *Vector) Mutable() []float64 {
	*v.version++
	return v.Data()
}

var seed = maphash.MakeSeed()

// Observe makes a Vector an asserts.Tensor.
func (v *Vector) Observe(o *asserts.Observation, level asserts.Level) {
	if v == nil {
		return
	}
	o.Impl, o.Storage, o.Version = v.id, v.buffer.id, *v.version
	o.ImplUses, o.StorageUses = asserts.NotCounted, asserts.NotCounted
	if level >= asserts.Content {
		o.Look(func() { o.Content = v.content() })
	}
}

func (v *Vector) content() *asserts.Snapshot {
	var bytes []byte
	for _, x := range v.buffer.data {
		bits := math.Float64bits(x)
		for shift := 0; shift < 64; shift += 8 {
			bytes = append(bytes, byte(bits>>shift))
		}
	}
	return &asserts.Snapshot{
		DType: "float64", Device: "cpu",
		Sizes: []int64{int64(v.len)}, Strides: []int64{1}, Offset: int64(v.offset),
		Nbytes: int64(len(bytes)), Digest: maphash.Bytes(seed, bytes), Bytes: bytes,
	}
}

// FromSpec makes a vector for runs of every operator.
//
//opassert:make
func FromSpec(s maker.Spec) (*Vector, error) {
	data, err := maker.Elements[float64](s, 1)
	return New(data...), err
}
