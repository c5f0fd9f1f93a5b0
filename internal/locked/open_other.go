//go:build !unix

package locked

import "os"

const holds = false

// Open opens a file to be read and written; here nothing keeps others from it.
func Open(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, flags|os.O_RDWR, 0o600)
}
