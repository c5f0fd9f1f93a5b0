//go:build !unix || !cgo

package libtorch

const cgo = false

func open([]string) error { return ErrNoCgo }

// Nothing below is reached, since open fails first.

func openRemote(int) { panic(ErrNoCgo) }

func native(*message, []int64) { panic(ErrNoCgo) }
