// Package locked has files and folders that belong to one process. Those of killed
// processes have no lock, as a lock ends with its process.
package locked

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrHeld is the error of a file that another process has open.
var ErrHeld = errors.New("another process has it open")

// Open opens a private file for reading and writing, and locks it until it is closed or the process ends.
func Open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := Hold(f); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return f, nil
}

// Free reports whether a file exists and no process holds it.
func Free(path string) bool {
	if !holds {
		return false
	}
	f, err := Open(path, 0)
	return err == nil && f.Close() == nil
}

// A Folder holds a process's temporary files.
type Folder struct {
	Path string
	lock *os.File
}

const (
	lockName  = "lock"
	abandoned = 24 * time.Hour // after which a folder without a lock is removed
)

// NewFolder makes a folder in dir whose name begins with prefix, and removes those of killed processes.
func NewFolder(dir, prefix string) (*Folder, error) {
	sweep(dir, prefix)
	path, err := os.MkdirTemp(dir, prefix)
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: path}
	if f.lock, err = Open(filepath.Join(path, "new"), os.O_CREATE); err != nil {
		return nil, errors.Join(err, f.Remove())
	}
	if err := os.Rename(f.lock.Name(), filepath.Join(path, lockName)); err != nil { // locked from the beginning
		return nil, errors.Join(err, f.Remove())
	}
	return f, nil
}

// sweep removes the folders of killed processes.
func sweep(dir, prefix string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.IsDir() && strings.HasPrefix(e.Name(), prefix) && isLeft(path) {
			os.RemoveAll(path)
		}
	}
}

func isLeft(folder string) bool {
	lock := filepath.Join(folder, lockName)
	if _, err := os.Lstat(lock); !errors.Is(err, fs.ErrNotExist) {
		return Free(lock)
	}
	info, err := os.Stat(folder)
	return err == nil && time.Since(info.ModTime()) > abandoned
}

// Remove removes the folder and its contents.
func (f *Folder) Remove() error {
	err := os.RemoveAll(f.Path)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", f.Path, err)
	}
	return nil
}
