package asserts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/tensor"
)

// A dimension is a dimension in memory: the number of elements, and the bytes from one to the next.
type dimension struct{ n, bytes int64 }

// Runs calls f with begin and end of each run of bytes that a tensor covers in its storage, and reports whether these
// are known. They are not for a tensor that is not strided, such as a nested one.
func (c *Snapshot) Runs(f func(from, to int64)) bool {
	run := c.elementSize()
	if run == 0 || !c.strided() || len(c.Strides) != len(c.Sizes) {
		return false
	}
	if slices.Contains(c.Sizes, 0) {
		return true
	}
	starts, all := []int64{c.Offset * run}, int64(1)
	var steps []dimension
	for dim, n := range c.Sizes {
		if c.Strides[dim] == 0 {
			continue
		}
		if n < 0 || n > SnapshotLimit/all {
			return false // invalid, or elements that overlap
		}
		all *= n
		steps = append(steps, dimension{n, c.Strides[dim] * run})
	}
	slices.SortFunc(steps, func(a, b dimension) int { return cmp.Compare(a.bytes, b.bytes) })
	for _, s := range steps {
		if s.bytes == run { //mutate:equivalent false: only saves time
			run *= s.n
			continue
		}
		before := starts
		starts = make([]int64, 0, len(before)*int(s.n))
		for i := range s.n {
			for _, at := range before {
				starts = append(starts, at+i*s.bytes)
			}
		}
	}
	for _, at := range starts {
		f(at, max(at, at+run)) // empty if the offset is out of range
	}
	return true
}

// strided reports whether the layout is that of dense tensors, or unknown.
func (c *Snapshot) strided() bool {
	return c.Layout == "" || strings.EqualFold(c.Layout, tensor.Layouts[tensor.LayoutStrided])
}

// Extent returns where a tensor's bytes begin and end in its storage, and reports whether that is
// known. A tensor without elements has 0 and 0.
func (c *Snapshot) Extent() (first, end int64, known bool) {
	size := c.elementSize()
	if size == 0 || c.Layout != "" && !strings.HasPrefix(strings.ToLower(c.Layout), "strided") ||
		len(c.Strides) != len(c.Sizes) {
		return 0, 0, false
	}
	low, high := c.Offset, c.Offset
	for dim, n := range c.Sizes {
		if n == 0 {
			return 0, 0, true
		}
		if span := (n - 1) * c.Strides[dim]; span < 0 {
			low += span
		} else {
			high += span
		}
	}
	return low * size, (high + 1) * size, true
}

// Within reports whether every element is known to lie within the storage, or the extent is not known.
func (c *Snapshot) Within() bool {
	first, end, _ := c.Extent() // 0 and 0 if not known
	return first >= 0 && end <= c.Nbytes
}

func (c *Snapshot) elementSize() int64 {
	size := itemSize(c.DType)
	if c.ItemSize == Packed {
		return 0
	}
	if c.ItemSize == 0 || 2*c.ItemSize == size && strings.HasPrefix(c.DType, "complex") { // its parts side by side
		return size
	}
	return c.ItemSize
}

func itemSize(dtype string) int64 {
	if d, ok := tensor.ParseDType(dtype); ok {
		return int64(d.Size())
	}
	return 0
}
