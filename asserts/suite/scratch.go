package suite

import (
	"fmt"
	"os"
	"path/filepath"
)

// A Scratch is a folder in the system's temporary one that workers go to, as
// there are kernels that write files where they are.
type Scratch struct {
	Folder string
	lock   *os.File // held while the run lives
}

// scratchPrefix is what the names of these folders begin with.
const scratchPrefix = "opassert-run-"

// NewScratch makes a folder, and removes those of processes that were killed.
func NewScratch() (*Scratch, error) {
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix+"*", "lock"))
	for _, path := range old {
		if lock, err := lockFile(path, 0); err == nil {
			os.RemoveAll(filepath.Dir(path))
			lock.Close()
		}
	}
	folder, err := os.MkdirTemp("", scratchPrefix)
	if err != nil {
		return nil, fmt.Errorf("no folder for what kernels write; set $TMPDIR to one that can be written: %w", err)
	}
	s := &Scratch{Folder: folder}
	if err := os.Mkdir(s.work(), 0o777); err != nil {
		s.Remove()
		return nil, err
	}
	if s.lock, err = lockFile(filepath.Join(folder, "lock"), os.O_CREATE); err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

// work is where workers go.
func (s *Scratch) work() string { return filepath.Join(s.Folder, "work") }

// Remove removes the folder.
func (s *Scratch) Remove() {
	os.RemoveAll(s.Folder)
	s.lock.Close()
}
