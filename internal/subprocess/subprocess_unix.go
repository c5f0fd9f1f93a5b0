//go:build unix

// Package subprocess ends the processes that this process started when it ends, for any
// reason: a compiler that runs for minutes must not outlive a command that was killed.
package subprocess

import (
	"os"
	"os/exec"
	"syscall"
)

// script becomes the program that its arguments name. A second process kills the
// group once the other end of a pipe is closed everywhere.
const script = `(read _ <&3; kill -9 0) >/dev/null 2>&1 & exec "$@" 3<&-`

// Command makes a command, with all processes of its group, end with this process and with its context. The command may
// have no files besides the standard three. Call release when it has ended.
func Command(cmd *exec.Cmd) (release func()) {
	waits, held, err := os.Pipe()
	if err != nil {
		return func() {} // the command will not start either
	}
	cmd.Args = append([]string{"/bin/sh", "-c", script, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	cmd.ExtraFiles = []*os.File{waits}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Cancel != nil { // it has a context
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	}
	return func() {
		waits.Close()
		held.Close()
	}
}
