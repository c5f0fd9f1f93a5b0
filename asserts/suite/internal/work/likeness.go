package work

import (
	"slices"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// familiar are dtypes that libraries have, the most common first.
var familiar = []string{"float32", "float64", "int64", "int32", "complex128", "complex64", "uint8", "int8", "int16",
	"bool", "uint64", "uint32", "uint16", "float16", "bfloat16", "complex32"}

// similarTensors returns similar tensors, the most similar first: of another layout, then of another
// dtype, then of another number of dimensions.
func similarTensors(spec *sample.TensorSpec) []*sample.TensorSpec {
	contiguous := with(*spec, func(t *sample.TensorSpec) { t.Arrangement = tensor.Contiguous })
	layouts := []sample.TensorSpec{*spec, contiguous,
		with(contiguous, func(t *sample.TensorSpec) { t.Form = engine.Strided })}
	var all []*sample.TensorSpec
	for _, sizes := range reshaped(spec.Sizes) {
		for _, dtype := range append([]string{spec.DType}, familiar...) {
			for _, l := range layouts {
				t := with(l, func(t *sample.TensorSpec) { t.Sizes, t.DType = sizes, dtype })
				all = append(all, &t)
			}
		}
	}
	return all
}

func with(t sample.TensorSpec, change func(*sample.TensorSpec)) sample.TensorSpec {
	change(&t)
	return t
}

// few are sizes of types with a fixed number of elements: points, colours, big integers, hashes, rotations.
var few = [][]int64{{1, 1}, {1}, {2}, {3}, {4}, {8}, {16}, {32}, {2, 2}, {3, 3}, {4, 4}}

// reshaped returns the sizes themselves and others for the same number of elements, followed by few.
func reshaped(sizes []int64) [][]int64 {
	n := tensor.Numel(sizes)
	all := [][]int64{sizes}
	if len(sizes) > 2 {
		last := sizes[len(sizes)-1]
		all = append(all, []int64{n / max(last, 1), last})
	}
	all = append(append(all, []int64{1, n}, []int64{n}), few...)
	return slices.CompactFunc(all, slices.Equal)
}
