//go:build !unix

package suite

import (
	"errors"
	"os"
	"os/exec"
)

func keepSignalsFrom(*exec.Cmd) {}

func killGroup(p *os.Process) { p.Kill() }

func wakeGroup(*os.Process) {}

func endGroup() {}

func abort(*os.Process) {}

func replyFiles() (run, worker *os.File, err error) { return os.Pipe() }

func takeRequests() (*os.File, error) { return os.Stdin, nil }

func limitMemory(uint64) error {
	return errors.New("workers need a Unix system: others cannot limit the memory of a kernel")
}
