package asserts

// ArgPointer records an optional argument of a library whose tensors are
// values: nil is an undefined tensor.
func ArgPointer[T Tensor](c *Call, t *T) {
	if t == nil {
		c.Arg(nil)
		return
	}
	c.Arg(*t)
}

// ArgPointerList records an argument that is a list of optional tensors.
func ArgPointerList[T Tensor](c *Call, ts []*T) {
	if c.level == Off {
		return
	}
	c.obs = append(c.obs, headed(len(ts)))
	for _, t := range ts {
		ArgPointer(c, t)
	}
}
