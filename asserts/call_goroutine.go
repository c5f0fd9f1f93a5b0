//go:build gc && (amd64 || arm64)

package asserts

// goroutine returns an identifier of the running goroutine: the address of the runtime's data for it.
func goroutine() uintptr
