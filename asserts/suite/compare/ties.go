package compare

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
)

// tied reports whether integers that differ are indices of equal elements of an argument, in all of
// it or along one of its dimensions: if several are largest, a kernel may return any.
func tied(x, y *asserts.Snapshot, given []asserts.Observation) bool {
	d, _ := tensor.ParseDType(x.DType)
	if d.Class() != tensor.Integral {
		return false
	}
	a, b := numbersOf(x, d), numbersOf(y, d)
	for _, o := range given {
		if o.Content == nil || !readable(o.Content, o.Content) {
			continue
		}
		of, _ := tensor.ParseDType(o.Content.DType)
		all, sizes := numbersOf(o.Content, of), o.Content.Sizes
		if of.Class() == tensor.Complex {
			continue
		}
		if pickAlike(a, b, all, 1, 1) {
			return true
		}
		for dim := range sizes {
			if pickAlike(a, b, all, int(tensor.Numel(sizes[:dim])), int(tensor.Numel(sizes[dim+1:]))) {
				return true
			}
		}
	}
	return false
}

// pickAlike reports whether indices along a dimension select equal elements; outer and inner are
// the numbers of elements of the dimensions before and after it.
func pickAlike(a, b, all []float64, outer, inner int) bool {
	rows := outer * inner
	if rows == 0 || len(a)%rows != 0 {
		return false
	}
	length, row := len(all)/rows, len(a)/outer // of the dimension, and of the selection for one index of outer
	pick := func(i int, index float64) (float64, bool) {
		if index < 0 || index >= float64(length) {
			return 0, false
		}
		return all[(i/row*length+int(index))*inner+i%inner], true
	}
	for i := range a {
		v, there := pick(i, a[i])
		if w, also := pick(i, b[i]); !there || !also || v != w {
			return false
		}
	}
	return true
}
