package tensor

// Numel returns the number of elements of a tensor of these sizes.
func Numel(sizes []int64) int64 {
	n := int64(1)
	for _, s := range sizes {
		n *= s
	}
	return n
}

// Position returns the offset of the element with a number, in elements: elements are
// numbered in the order of the sizes, the last dimension running fastest.
func Position(number int64, sizes, strides []int64, offset int64) int64 {
	for d := len(sizes) - 1; d >= 0; d-- {
		offset += number % sizes[d] * strides[d]
		number /= sizes[d]
	}
	return offset
}

// ContiguousStrides returns the strides of a contiguous tensor of these sizes.
func ContiguousStrides(sizes []int64) []int64 {
	strides := make([]int64, len(sizes))
	stride := int64(1)
	for d := len(sizes) - 1; d >= 0; d-- {
		strides[d] = stride
		stride *= max(sizes[d], 1)
	}
	return strides
}
