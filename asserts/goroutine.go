//go:build gc && (amd64 || arm64)

package asserts

// goroutine returns what no other goroutine that runs now has: where the
// runtime keeps it.
func goroutine() uintptr
