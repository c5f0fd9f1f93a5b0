//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package compile

// Elsewhere two processes may compile the same at once; each moves a whole file
// into its place.
func lock(string) (unlock func() error, err error) { return func() error { return nil }, nil }

func owned(string) bool { return false }
