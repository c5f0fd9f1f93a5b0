package suite

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/opassert/opassert/internal/locked"
)

// A Scratch is a folder in the system's temporary one that workers go to, as
// there are kernels that write files where they are.
type Scratch struct {
	Folder string
	own    *locked.Folder
}

// NewScratch makes a folder, and removes those of processes that were killed.
func NewScratch() (*Scratch, error) {
	unlock(filepath.Join(os.TempDir(), "opassert-run-*", "work")) // of runs that were killed
	own, err := locked.NewFolder(os.TempDir(), "opassert-run-")
	if err != nil {
		return nil, fmt.Errorf("no folder for what kernels write; set $TMPDIR to one that can be written: %w", err)
	}
	return &Scratch{Folder: own.Path, own: own}, nil
}

// work is where workers go: the first one makes it.
func (s *Scratch) work() string { return filepath.Join(s.Folder, "work") }

// Remove removes the folder.
func (s *Scratch) Remove() { s.own.Remove() }
