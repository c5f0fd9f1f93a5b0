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
	s := &Scratch{Folder: own.Path, own: own}
	if err := os.Mkdir(s.work(), 0o777); err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

// work is where workers go.
func (s *Scratch) work() string { return filepath.Join(s.Folder, "work") }

// Remove removes the folder.
func (s *Scratch) Remove() { s.own.Remove() }
