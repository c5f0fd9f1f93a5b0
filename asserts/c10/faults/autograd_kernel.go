package faults

import "github.com/opassert/opassert/asserts"

// The faults are those of a C++ library, testdata/oplib.
var _ = planting(asserts.AutogradKernel, plant{
	faults:     func() []Fault { return nil },
	impossible: func(Kind, Class) string { return "the embedded engine has no autograd" },
})
