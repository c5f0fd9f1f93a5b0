package faults

import "github.com/opassert/opassert/asserts"

// The faults are those of a C++ library, testdata/oplib.
var _ = planting(asserts.AutogradKernel, plant{
	impossible: []cells{{why: "the embedded engine has no autograd"}},
	onLibtorch: "TestAutogradKernels",
})
