package faults

import "github.com/opassert/opassert/asserts"

// The faults are those of a C++ library, testdata/oplib/memory.cpp.
var _ = planting(asserts.OutOfBounds, plant{
	impossible: []cells{{why: "Go's own memory is not watched"}},
	onLibtorch: inMemory,
})

const inMemory = "TestMemory, of the command: a run finds it, where memory is watched"
