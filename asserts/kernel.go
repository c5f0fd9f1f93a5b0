package asserts

// A Kernel is an op of a generated package with the function that runs it. A
// generated package lists its own in Kernels, for whoever runs them all: see
// package optest.
type Kernel struct {
	Op   *Op
	Func any // the kernel itself, not its wrapper
}
