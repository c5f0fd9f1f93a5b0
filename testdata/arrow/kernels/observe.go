// Package kernels has operators over arrow's array.Float64, whose memory is counted
// and lies in two buffers: the values, and which of them are valid. Four have a bug.
package kernels

import (
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/opassert/opassert/asserts"
)

// Arrow keeps its counts to itself.
var (
	arrayUses  = asserts.Counter[array.Float64]("refCount")
	dataUses   = asserts.Counter[array.Data]("refCount")
	bufferUses = asserts.Counter[memory.Buffer]("refCount")
)

// Observe says what an array is made of: the array, the buffer of its values, and,
// inside, the one of its validity. A buffer is held by each Data that has it, and
// those by the arrays on them.
//
//opassert:observe
func Observe(a *array.Float64, o *asserts.Observation, level asserts.Level) {
	o.Impl, o.ImplUses, o.Traits = asserts.PointerID(a), arrayUses(a), asserts.NoVersion
	data := a.Data().(*array.Data)
	if data == nil {
		return // nothing holds it any more
	}
	validity, values := data.Buffers()[0], data.Buffers()[1]
	if values == nil {
		return // an array without values has no memory
	}
	o.Storage, o.StorageUses = asserts.PointerID(values), bufferUses(values)+dataUses(data)-1
	var parts []asserts.Part
	if validity != nil {
		parts = append(parts, o.Inside("validity", bitmap{validity}, level))
	}
	if level >= asserts.Content {
		o.Look(func() {
			o.Content = asserts.SliceContent(values.Bytes(), []int64{int64(a.Len())}, []int64{1}, int64(a.Offset()))
			o.Content.DType, o.Content.ItemSize = "float64", 8
		})
	}
	o.With(parts...)
}

// A bitmap is the buffer of an array's validity, a bit for each value.
type bitmap struct{ *memory.Buffer }

// Observe makes a bitmap an asserts.Tensor.
func (b bitmap) Observe(o *asserts.Observation, level asserts.Level) {
	o.Impl, o.Storage, o.Traits = asserts.PointerID(b.Buffer), asserts.PointerID(b.Buffer), asserts.NoVersion
	o.ImplUses, o.StorageUses = bufferUses(b.Buffer), bufferUses(b.Buffer)
	if level >= asserts.Content {
		o.Look(func() {
			o.Content = asserts.SliceContent(b.Bytes(), []int64{int64(b.Len())}, []int64{1}, 0)
		})
	}
}
