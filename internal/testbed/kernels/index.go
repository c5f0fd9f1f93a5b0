package kernels

import (
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

// A selection holds the elements that index tensors pick from a tensor.
type selection struct {
	view    *c10.Tensor // the tensor, the indexed dimensions moved to one place
	sizes   []int64     // of the selected elements
	sources []int64     // for each element picked, its number in view
}

// selected computes the elements that indices select; an undefined index selects a
// whole dimension. The caller releases the view.
//
// Source: aten/src/ATen/native/TensorAdvancedIndexing.cpp, make_info.
func selected(self *c10.Tensor, indices []*c10.Tensor) (selection, error) {
	if int64(len(indices)) > self.Dim() {
		return selection{}, c10.Errorf("%d indices for a tensor of %d dimensions", len(indices), self.Dim())
	}
	first, count, perm := indexedTogether(indices, int(self.Dim()))
	picks := slices.DeleteFunc(slices.Clone(indices), func(index *c10.Tensor) bool { return index == nil })
	if count == 0 {
		return selection{}, c10.Errorf("no index is given")
	}
	view := geometryOf(self).permute(perm).view(self)
	s := selection{view: view}
	dims := view.Sizes()[first : first+count]
	between := broadcastSizes(picks...)
	offsets, err := pickedOffsets(picks, dims, between)
	if err != nil {
		view.Release()
		return selection{}, err
	}
	before, after := view.Sizes()[:first], view.Sizes()[first+count:]
	s.sizes = slices.Concat(before, between, after)
	run := c10.Numel(after)
	for i := range c10.Numel(before) {
		for _, at := range offsets {
			for k := range run {
				s.sources = append(s.sources, (i*c10.Numel(dims)+at)*run+k)
			}
		}
	}
	return s, nil
}

// indexedTogether returns an order of dimensions in which the indexed ones are
// adjacent: unchanged if they already are, else with them at the front.
func indexedTogether(byDim []*c10.Tensor, dims int) (first, count int, perm []int64) {
	var indexed, whole []int64
	for d := range dims {
		if d < len(byDim) && byDim[d] != nil {
			indexed = append(indexed, int64(d))
		} else {
			whole = append(whole, int64(d))
		}
	}
	count = len(indexed)
	if count > 0 && int(indexed[count-1]-indexed[0]) == count-1 {
		first = int(indexed[0])
	}
	return first, count, slices.Concat(whole[:first], indexed, whole[first:])
}

// pickedOffsets combines one index for each dimension into element numbers.
func pickedOffsets(picks []*c10.Tensor, dims, sizes []int64) ([]int64, error) {
	offsets := make([]int64, c10.Numel(sizes))
	for p, index := range picks {
		if index.DType() == c10.Bool {
			return nil, c10.Errorf("a mask as index is not implemented")
		}
		for i, v := range readAs(index, sizes) {
			at := int64(v)
			if at < -dims[p] || at >= dims[p] {
				return nil, c10.Errorf("index %d is outside a dimension of size %d", at, dims[p])
			}
			if at < 0 {
				at += dims[p]
			}
			offsets[i] = offsets[i]*dims[p] + at
		}
	}
	return offsets, nil
}

//opassert:kernel index.Tensor
func IndexTensor(self *c10.Tensor, indices []*c10.Tensor) (*c10.Tensor, error) {
	s, err := selected(self, indices)
	if err != nil {
		return nil, err
	}
	defer s.view.Release()
	out := c10.Empty(s.sizes, self.Options())
	for i, from := range s.sources {
		out.CopyElement(int64(i), s.view, from)
	}
	return out, nil
}
