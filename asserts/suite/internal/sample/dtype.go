package sample

import (
	"slices"

	"github.com/opassert/opassert/internal/tensor"
)

// QuantizedDTypes are the dtypes of quantized tensors, the usual one first.
var QuantizedDTypes = []string{"quint8", "qint8", "qint32"}

func quantizedDType(name string) bool { return slices.Contains(QuantizedDTypes, name) }

// Element returns the dtype of a tensor's elements as it is made: float32 for quantized ones and the theme's dtype.
func Element(name string) tensor.DType {
	if d, ok := tensor.ParseDType(name); ok && d.Class() != tensor.Scaled {
		return d
	}
	return tensor.Float32
}

func counts(d tensor.DType) bool { return d.Class() == tensor.Integral || d.Class() == tensor.Boolean }

// tensorDTypes are the dtypes of the tensors that can be made.
var tensorDTypes = tensor.DTypeNames(func(d tensor.DType) bool { return d.Writable() })
