//go:build unix

package locked

import (
	"errors"
	"os"
	"syscall"
)

const holds = true

// Hold locks an open file until it is closed or the process ends.
func Hold(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}
