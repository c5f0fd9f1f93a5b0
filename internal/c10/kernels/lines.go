package kernels

import (
	"iter"
	"math"
	"slices"

	"github.com/opassert/opassert/internal/c10"
)

// A line is the elements along one dimension, by their numbers.
type line struct{ start, step, n int64 }

func (l line) at(k int64) int64 { return l.start + k*l.step }

func (l line) read(t *c10.Tensor) []float64 {
	values := make([]float64, l.n)
	for k := range values {
		values[k] = t.Float(l.at(int64(k)))
	}
	return values
}

func (l line) write(t *c10.Tensor, values []float64) {
	for k, v := range values {
		t.SetFloat(l.at(int64(k)), v)
	}
}

// lines returns the lines of a tensor of these sizes along a dimension, in order.
// A 0-dim tensor has one, of one element.
func lines(sizes []int64, dim int64) iter.Seq[line] {
	d := c10.WrapDim(dim, int64(len(sizes)))
	if len(sizes) == 0 {
		sizes = []int64{1}
	}
	n, outer, inner := sizes[d], c10.Numel(sizes[:d]), c10.Numel(sizes[d+1:])
	return func(yield func(line) bool) {
		for o := range outer {
			for i := range inner {
				if !yield(line{o*n*inner + i, inner, n}) {
					return
				}
			}
		}
	}
}

//opassert:kernel cumsum
func Cumsum(self *c10.Tensor, dim int64, dtype *c10.DType) *c10.Tensor {
	out := c10.Empty(self.Sizes(), sumOptions(self, dtype))
	for l := range lines(self.Sizes(), dim) {
		values := l.read(self)
		for k := 1; k < len(values); k++ {
			values[k] += values[k-1]
		}
		l.write(out, values)
	}
	return out
}

//opassert:kernel _softmax
func Softmax(self *c10.Tensor, dim int64, halfToFloat bool) *c10.Tensor {
	c10.Check(self.DType().IsFloat() && !halfToFloat, "softmax of %v", self.DType())
	out := c10.Empty(self.Sizes(), self.Options())
	for l := range lines(self.Sizes(), dim) {
		values := l.read(self)
		if len(values) == 0 {
			continue
		}
		top := values[indexOfMax(values)]
		for k, v := range values {
			values[k] = math.Exp(v - top)
		}
		sum := total(values)
		for k := range values {
			values[k] /= sum
		}
		l.write(out, values)
	}
	return out
}

// order returns the numbers of the values of a line, sorted; equal values keep
// their order.
func order(values []float64, descending bool) []int {
	indices := make([]int, len(values))
	for k := range indices {
		indices[k] = k
	}
	slices.SortStableFunc(indices, func(a, b int) int {
		if descending {
			a, b = b, a
		}
		return compare(values[a], values[b])
	})
	return indices
}

//opassert:kernel topk
func TopK(self *c10.Tensor, k, dim int64, largest, sorted bool) (values, indices *c10.Tensor) {
	sizes := slices.Clone(self.Sizes())
	if len(sizes) > 0 {
		d := c10.WrapDim(dim, self.Dim())
		c10.Check(0 <= k && k <= sizes[d], "the top %d of %d", k, sizes[d])
		sizes[d] = k
	}
	values = c10.Empty(sizes, self.Options())
	indices = c10.Empty(sizes, self.Options().With(c10.Int64))
	targets := slices.Collect(lines(sizes, dim))
	for from := range lines(self.Sizes(), dim) {
		to := targets[0]
		targets = targets[1:]
		for i, j := range order(from.read(self), largest)[:to.n] {
			values.CopyElement(to.at(int64(i)), self, from.at(int64(j)))
			indices.SetInt(to.at(int64(i)), int64(j))
		}
	}
	return values, indices
}
