//go:build !unix

package suite

import (
	"errors"
	"os/exec"
)

func keepSignalsFrom(*exec.Cmd) {}

func limitMemory(uint64) error {
	return errors.New("workers need a Unix system: elsewhere nothing bounds the memory that a kernel takes")
}
