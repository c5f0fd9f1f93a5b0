//go:build unix

package suite

import (
	"fmt"
	"os/exec"
	"syscall"
)

// keepSignalsFrom leaves Ctrl-C to the run alone.
func keepSignalsFrom(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// limitMemory bounds this process's address space, in bytes.
func limitMemory(bytes uint64) error {
	limit := syscall.Rlimit{Cur: bytes, Max: bytes}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		return fmt.Errorf("limit the worker's memory: %w", err)
	}
	return nil
}
