package preserve

import (
	_ "runtime/pprof" // whose name it has
	"unsafe"
)

// goroutineLabels returns this goroutine's profiler labels, as a pointer that is only compared. The runtime keeps the
// function for packages that ask for it by this name; see runtime/proflabel.go.
//
//go:linkname goroutineLabels runtime/pprof.runtime_getProfLabel
func goroutineLabels() unsafe.Pointer
