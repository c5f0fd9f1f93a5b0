package faults

import "github.com/opassert/opassert/asserts"

const (
	inMemory  = "TestMemory, of the command: a run finds it, where memory is watched"
	filled    = "a run repeats the calls of kernels in memory that it fills, and Go fills its own"
	unwatched = "Go's own memory is not watched"
)

var (
	_ = elsewhere(asserts.AutogradKernel, "the embedded engine has no autograd", "TestAutogradKernels")
	_ = elsewhere(asserts.OutOfBounds, unwatched, inMemory)
	_ = elsewhere(asserts.UseAfterFree, unwatched, inMemory)
	_ = elsewhere(asserts.UninitialisedResult, filled, inMemory)
	_ = elsewhere(asserts.NondeterministicResult, filled, inMemory)
)

// elsewhere registers a check whose faults are those of a C++ library, testdata/oplib.
func elsewhere(code asserts.Code, why, onLibtorch string) asserts.Code {
	return planting(code, plant{impossible: []cells{{why: why}}, onLibtorch: onLibtorch})
}
