//go:build !unix || !cgo

package libtorch

const cgo = false

func open([]string) error { return ErrNoCgo }

// The functions below are not called, since open fails.

func cross(crossing, []int64, []int64) { absent() }

func openRemote(int) { absent() }

func absent() { panic(ErrNoCgo) }
