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

func lives(pid int) bool { return syscall.Kill(pid, 0) == nil }

func terminate(pid int) { syscall.Kill(pid, syscall.SIGTERM) }
