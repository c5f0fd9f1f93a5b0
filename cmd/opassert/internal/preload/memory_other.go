//go:build !linux

package preload

import (
	"errors"
	"net"
	"os"
	"os/exec"
)

var errLinux = errors.New("programs are watched on Linux")

// NewMemory fails: no program is watched on this system.
func NewMemory(string, int64) (*os.File, error) { return nil, errLinux }

// Map fails.
func Map(*os.File, int) (memory []byte, unmap func() error, err error) { return nil, nil, errLinux }

func startMarked(*exec.Cmd) (programMark, error) { return 0, errLinux }

func markRunning(int) programMark { return 0 }

func peer(*net.UnixConn) (int, error) { return 0, errLinux }

func (f Message) send(*net.UnixConn, *os.File) error { return errLinux }
