//go:build !unix

package locked

import "os"

const holds = false

// Hold does nothing: this system has no such lock.
func Hold(*os.File) error { return nil }
