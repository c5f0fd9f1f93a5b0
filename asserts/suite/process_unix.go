//go:build unix

package suite

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// keepSignalsFrom leaves Ctrl-C to the run alone.
func keepSignalsFrom(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// limitMemory bounds how much more address space this process takes, in bytes.
// What it has, which is gigabytes where libraries for GPUs are linked, is told
// by /proc; where there is none it counts as nothing.
func limitMemory(more uint64) error {
	var pages uint64
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		fmt.Sscan(string(text), &pages)
	}
	bytes := pages*uint64(os.Getpagesize()) + more
	limit := syscall.Rlimit{Cur: bytes, Max: bytes}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		return fmt.Errorf("limit the worker's memory: %w", err)
	}
	return nil
}
