//go:build !unix

package live

import (
	"errors"
	"os"
)

// shared fails: no program is watched on this system.
func shared(*os.File, int) (memory []byte, unmap func() error, err error) {
	return nil, nil, errors.New("opassert run -preserve needs Linux")
}

func lives(int) bool { return false }

func terminate(int) {}
