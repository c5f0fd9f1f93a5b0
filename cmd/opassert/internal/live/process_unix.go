//go:build unix

package live

import (
	"os"
	"syscall"
)

// shared maps a file into memory that its writers see.
func shared(f *os.File, size int) (memory []byte, unmap func() error, err error) {
	memory, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return memory, func() error { return syscall.Munmap(memory) }, err
}

// lives reports whether a process has not ended; it may be another user's.
func lives(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}

func terminate(pid int) { syscall.Kill(pid, syscall.SIGTERM) }
