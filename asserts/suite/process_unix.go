//go:build unix

package suite

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// keepSignalsFrom leaves Ctrl-C to the run alone: it makes the process the
// leader of a group.
func keepSignalsFrom(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup ends a process that leads a group, and all in it.
func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }

// wakeGroup lets a process that leads a group, and all in it, go on where they
// were stopped.
func wakeGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGCONT) }

// endGroup ends this process, and all in the group that it leads.
func endGroup() {
	if self := os.Getpid(); syscall.Getpgrp() == self {
		syscall.Kill(-self, syscall.SIGKILL)
	}
}

// abort asks a process to end with its stack, if it knows how.
func abort(p *os.Process) { p.Signal(syscall.SIGABRT) }

// replyFiles returns the ends of a connection from a worker to its run. It is a
// socket, which, unlike a pipe, cannot be opened again to be read.
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
	if err := syscall.SetNonblock(ends[0], true); err != nil { // so that reading it can be ended
		return nil, nil, err
	}
	return os.NewFile(uintptr(ends[0]), "replies"), os.NewFile(uintptr(ends[1]), "replies"), nil
}

// takeRequests returns the standard input, and leaves an empty one for kernels.
// Programs that kernels start have neither it nor the replies.
func takeRequests() (*os.File, error) {
	fd, err := syscall.Dup(0)
	if err != nil {
		return nil, fmt.Errorf("a worker's requests: %w", err)
	}
	syscall.CloseOnExec(fd)
	syscall.CloseOnExec(replyFile)
	syscall.Close(0)
	if _, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0); err != nil { // the lowest number is free
		return nil, fmt.Errorf("a worker's requests: %w", err)
	}
	return os.NewFile(uintptr(fd), "requests"), nil
}

// limitMemory limits the address space that this process adds, in bytes, to its
// size in /proc, which is gigabytes where libraries for GPUs are loaded; without
// /proc that counts as 0. A lower limit that is set already remains.
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
