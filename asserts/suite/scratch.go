package suite

import (
	"os"
	"path/filepath"
)

// A scratch is a folder in the system's temporary one that workers go to, as
// there are kernels that write files where they are.
type scratch struct {
	folder string
	lock   *os.File // held while the run lives
}

// scratchPrefix is what the names of these folders begin with.
const scratchPrefix = "opassert-run-"

// newScratch makes a folder. Those of runs that were killed are removed.
func newScratch() (*scratch, error) {
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix+"*", "lock"))
	for _, path := range old {
		if lock, err := lockFile(path, 0); err == nil {
			os.RemoveAll(filepath.Dir(path))
			lock.Close()
		}
	}
	folder, err := os.MkdirTemp("", scratchPrefix)
	if err != nil {
		return nil, err
	}
	s := &scratch{folder: folder}
	if err := os.Mkdir(s.work(), 0o777); err != nil {
		s.remove()
		return nil, err
	}
	if s.lock, err = lockFile(filepath.Join(folder, "lock"), os.O_CREATE); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// work is where workers go.
func (s *scratch) work() string { return filepath.Join(s.folder, "work") }

func (s *scratch) remove() {
	os.RemoveAll(s.folder)
	s.lock.Close()
}
