//go:build unix

package locked

import (
	"errors"
	"os"
	"syscall"
)

const holds = true

// Open opens a file of the user's alone to be read and written, and holds it until it
// is closed or the process ends.
func Open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrHeld
		}
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return f, nil
}
