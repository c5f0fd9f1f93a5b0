package sample

import (
	"slices"

	"github.com/opassert/opassert/internal/tensor"
)

// QuantizedDTypes are those that quantized tensors are made of, the usual one first.
var QuantizedDTypes = []string{"quint8", "qint8", "qint32"}

// quantizedDType reports whether a dtype is one that quantized tensors have.
func quantizedDType(name string) bool { return slices.Contains(QuantizedDTypes, name) }

// Element returns the dtype of the elements that a tensor is made from: a quantized
// one is made from one of float32, and so is, if need be, one of the theme's dtype.
func Element(name string) tensor.DType {
	if d, ok := tensor.ParseDType(name); ok && d.Class() != tensor.Scaled {
		return d
	}
	return tensor.Float32
}

// counts reports whether a dtype has whole numbers alone.
func counts(d tensor.DType) bool { return d.Class() == tensor.Integral || d.Class() == tensor.Boolean }

// tensorDTypes are the dtypes of the tensors that are made.
var tensorDTypes = tensor.DTypeNames(func(d tensor.DType) bool { return d.Writable() })
