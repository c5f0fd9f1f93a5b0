package asserts

import (
	"strconv"
	"strings"
)

// cover marks the bytes of its storage that a tensor covers, and reports
// whether that is known. The sizes of a tensor that is not strided, a nested one
// among them, do not say.
func (c *Snapshot) cover(bytes []bool) bool {
	size := itemSize(c.DType)
	if size == 0 || c.Layout != "" && !strings.EqualFold(c.Layout, "strided") || len(c.Strides) != len(c.Sizes) {
		return false
	}
	elements, all := []int64{c.Offset}, int64(1)
	for dim, n := range c.Sizes {
		if c.Strides[dim] == 0 {
			continue
		}
		if all *= n; all > SnapshotLimit {
			return false // elements that overlap
		}
		before := elements
		elements = nil
		for i := range n {
			for _, e := range before {
				elements = append(elements, e+i*c.Strides[dim])
			}
		}
	}
	for _, e := range elements {
		for i := max(0, e*size); i < min((e+1)*size, int64(len(bytes))); i++ {
			bytes[i] = true
		}
	}
	return true
}

// itemSize returns the size of an element in bytes, 0 where the name of the
// dtype does not say: "float32" does.
func itemSize(dtype string) int64 {
	if dtype == "bool" {
		return 1
	}
	bits, _ := strconv.ParseInt(strings.TrimLeft(dtype, "abcdefghijklmnopqrstuvwxyz"), 10, 64)
	if bits%8 != 0 {
		return 0
	}
	return bits / 8
}
