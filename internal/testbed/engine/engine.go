// Package engine is the embedded engine as the suite runs it.
package engine

import (
	"fmt"
	"reflect"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/gokernels"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/schema"
)

// Open returns an engine over kernels of the embedded engine: functions by their op's name, with a file's schemas.
func Open(kernels map[string]any, ops []*schema.Op) (*gokernels.Engine, error) {
	lib := gokernels.Library{
		Name: "embedded engine", Ops: ops, Kernels: kernels,
		Make: build, Value: value, Release: release, Seed: c10.Seed,
		View: func(t asserts.Tensor, d engine.Dense) (asserts.Tensor, error) {
			return t.(*c10.Tensor).AsStrided(d.Sizes, d.Strides, d.Offset), nil
		},
		Twins: map[engine.Device]func([]asserts.Tensor) ([]asserts.Tensor, error){engine.Meta: twins},
	}
	return lib.Engine()
}

// release releases a tensor, unless a kernel released its argument already.
func release(t asserts.Tensor) {
	if o := asserts.Observe(t, asserts.Identity); o.Defined() {
		t.(*c10.Tensor).Release()
	}
}

var dtypes = map[string]c10.DType{}

func init() {
	for d := c10.Bool; d <= c10.Complex64; d++ {
		dtypes[d.String()] = d
	}
}

func build(d engine.Dense, f engine.Form) (asserts.Tensor, error) {
	dtype, ok := dtypes[d.DType]
	if !ok {
		return nil, fmt.Errorf("the embedded engine has no dtype %s", d.DType)
	}
	o := c10.TensorOptions{DType: dtype, Inference: f == engine.Inference}
	switch f {
	case engine.Strided, engine.Inference, engine.COO:
	case engine.Functional:
		o.Kind = c10.Functional
	default:
		return nil, fmt.Errorf("the embedded engine does not have this form of tensor")
	}
	room := c10.Empty([]int64{int64(len(d.Data)) / dtype.Size()}, o)
	room.SetBytes(d.Data)
	defer room.Release()
	t := room.AsStrided(d.Sizes, d.Strides, d.Offset)
	if f != engine.COO {
		return t, nil
	}
	defer t.Release()
	return coo(t), nil
}

func coo(dense *c10.Tensor) *c10.Tensor {
	n, rank := dense.Numel(), dense.Dim()
	indices := c10.Empty([]int64{rank, n}, c10.TensorOptions{DType: c10.Int64})
	values := c10.Empty([]int64{n}, dense.Options())
	defer indices.Release()
	defer values.Release()
	for i := range n {
		values.SetFloat(i, dense.Float(i))
		rest := i
		for dim := rank - 1; dim >= 0; dim-- {
			indices.SetInt(dim*n+i, rest%dense.Size(dim))
			rest /= dense.Size(dim)
		}
	}
	return c10.NewSparseCOO(indices, values, dense.Sizes(), true)
}

func twins(ts []asserts.Tensor) ([]asserts.Tensor, error) {
	return slicesx.Map(ts, func(t asserts.Tensor) asserts.Tensor { return t.(*c10.Tensor).OnMeta() }), nil
}

var devices = map[engine.Device]c10.Device{engine.CPU: c10.CPU, engine.Meta: c10.Meta}

func value(v any, to reflect.Type) (any, bool) {
	switch v := v.(type) {
	case engine.DType:
		d, ok := dtypes[string(v)]
		return d, ok && to == reflect.TypeFor[c10.DType]()
	case engine.Layout:
		n, ok := tensor.Layouts.Number(string(v))
		return c10.Layout(n), ok && n <= int64(c10.SparseCSR) && to == reflect.TypeFor[c10.Layout]()
	case engine.MemoryFormat:
		n, ok := tensor.MemoryFormats.Number(string(v))
		return c10.MemoryFormat(n), ok && n <= int64(c10.Preserve) && to == reflect.TypeFor[c10.MemoryFormat]()
	case engine.Device:
		d, ok := devices[v]
		return d, ok && to == reflect.TypeFor[c10.Device]()
	case gokernels.GeneratorSeed:
		return c10.NewGenerator(uint64(v)), to == reflect.TypeFor[*c10.Generator]()
	}
	return nil, false
}
