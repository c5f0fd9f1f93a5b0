//go:build !unix

package locked

import "os"

const holds = false

// Hold does nothing: here nothing keeps others from a file.
func Hold(*os.File) error { return nil }
