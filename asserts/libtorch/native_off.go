//go:build !unix || !cgo

package libtorch

const cgo = false

func open([]string) error { return ErrNoCgo }

// Nothing below is reached, since open fails first.

func cross(crossing, []int64, []int64) { absent() }

func openRemote(int) { absent() }

func absent() { panic(ErrNoCgo) }
