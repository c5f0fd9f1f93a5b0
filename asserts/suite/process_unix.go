//go:build unix

package suite

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// keepSignalsFrom makes the process the leader of a group, so that only the run gets Ctrl-C.
func keepSignalsFrom(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a group by its leader.
func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }

// wakeGroup continues a stopped group by its leader.
func wakeGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGCONT) }

// endGroup ends this process and the group that it leads.
func endGroup() {
	if self := os.Getpid(); syscall.Getpgrp() == self {
		syscall.Kill(-self, syscall.SIGKILL)
	}
}

// abort asks a process to end with its stack, if it can.
func abort(p *os.Process) { p.Signal(syscall.SIGABRT) }

// replyFiles returns the ends of a connection from a worker to its run. It is a socket, which,
// unlike a pipe, cannot be opened again to be read.
func replyFiles() (run, worker *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	for _, end := range ends {
		syscall.CloseOnExec(end)
	}
	syscall.Shutdown(ends[0], syscall.SHUT_WR)
	if err := syscall.SetNonblock(ends[0], true); err != nil { // so that reading can be interrupted
		return nil, nil, err
	}
	return os.NewFile(uintptr(ends[0]), "replies"), os.NewFile(uintptr(ends[1]), "replies"), nil
}

// takeRequests returns the standard input, and replaces it by an empty one. Kernels' programs get neither.
func takeRequests() (*os.File, error) {
	fd, err := syscall.Dup(0)
	if err != nil {
		return nil, fmt.Errorf("a worker's requests: %w", err)
	}
	syscall.CloseOnExec(fd)
	syscall.CloseOnExec(replyFile)
	syscall.Close(0)
	if _, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0); err != nil { // it gets the lowest free number
		return nil, fmt.Errorf("a worker's requests: %w", err)
	}
	return os.NewFile(uintptr(fd), "requests"), nil
}

// limitMemory limits the address space that this process adds to its present size, in bytes, which is gigabytes with
// libraries for GPUs; without /proc the size counts as 0. A lower limit that is already set remains.
func limitMemory(more uint64) error {
	var pages uint64
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		fmt.Sscan(string(text), &pages)
	}
	bytes := pages*uint64(os.Getpagesize()) + more
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		return fmt.Errorf("limit the worker's memory: %w", err)
	}
	limit.Max = min(limit.Max, bytes)
	limit.Cur = min(limit.Cur, limit.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		return fmt.Errorf("limit the worker's memory: %w", err)
	}
	return nil
}
