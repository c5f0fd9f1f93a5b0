package faults

import "github.com/opassert/opassert/asserts"

// The faults are those of a C++ library, testdata/oplib/memory.cpp.
var _ = planting(asserts.UninitialisedResult, plant{
	impossible: []cells{{why: "a run repeats the calls of kernels in memory that it fills, and Go fills its own"}},
	onLibtorch: inMemory,
})
