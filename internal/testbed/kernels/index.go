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
// whole dimension, a boolean one the places where it is true. The caller releases the
// view.
//
// Source: aten/src/ATen/native/TensorAdvancedIndexing.cpp, make_info.
func selected(self *c10.Tensor, indices []*c10.Tensor) (selection, error) {
	byDim, temporaries := expandMasks(indices)
	defer releaseAll(temporaries)
	if int64(len(byDim)) > self.Dim() {
		return selection{}, c10.Errorf("%d indices for a tensor of %d dimensions", len(byDim), self.Dim())
	}
	first, count, perm := indexedTogether(byDim, int(self.Dim()))
	picks := slices.DeleteFunc(slices.Clone(byDim), func(index *c10.Tensor) bool { return index == nil })
	if count == 0 {
		return selection{}, c10.Errorf("no index is given")
	}
	view := Permute(self, perm)
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

// expandMasks replaces boolean indices by the positions of their true elements, one
// index for each of their dimensions.
func expandMasks(indices []*c10.Tensor) (byDim, temporaries []*c10.Tensor) {
	for _, index := range indices {
		if index == nil || index.DType() != c10.Bool {
			byDim = append(byDim, index)
			continue
		}
		places := Nonzero(index)
		columns := UnbindInt(places, 1)
		places.Release()
		byDim = append(byDim, columns...)
		temporaries = append(temporaries, columns...)
	}
	return byDim, temporaries
}

func releaseAll(ts []*c10.Tensor) {
	for _, t := range ts {
		t.Release()
	}
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

//opassert:kernel nonzero
func Nonzero(self *c10.Tensor) *c10.Tensor {
	checkValues(self, "nonzero")
	strides := c10.ContiguousStrides(self.Sizes())
	var places []int64
	n := int64(0)
	for i, v := range read(self) {
		if v == 0 {
			continue
		}
		n++
		for d, size := range self.Sizes() {
			places = append(places, int64(i)/strides[d]%size)
		}
	}
	return c10.FromInts(places, []int64{n, self.Dim()}, self.Options())
}

// checkValues rejects a meta tensor, as the result depends on values.
func checkValues(t *c10.Tensor, op string) {
	c10.Check(!t.IsMeta(), "%s depends on values, and a meta tensor has none", op)
}
