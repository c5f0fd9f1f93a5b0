package suite

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/opassert/opassert/internal/locked"
)

// A Scratch is a temporary folder in which workers run, as some kernels write files to their working folder.
type Scratch struct {
	Folder string
	own    *locked.Folder
}

// NewScratch makes a folder, and removes those of killed processes.
func NewScratch() (*Scratch, error) {
	unlock(filepath.Join(os.TempDir(), "opassert-run-*", "work")) // of killed runs
	own, err := locked.NewFolder(os.TempDir(), "opassert-run-")
	if err != nil {
		return nil, fmt.Errorf("no folder for files of kernels; set $TMPDIR to a writable one: %w", err)
	}
	return &Scratch{Folder: own.Path, own: own}, nil
}

// work is the workers' folder, which the first one makes.
func (s *Scratch) work() string { return filepath.Join(s.Folder, "work") }

// Remove removes the folder.
func (s *Scratch) Remove() { s.own.Remove() }
