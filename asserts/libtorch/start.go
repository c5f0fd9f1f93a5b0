package libtorch

import (
	"errors"
	"fmt"
	"sync"
)

// ErrNotBuilt is what everything here gives in a build without the tag
// libtorch.
var ErrNotBuilt = errors.New("libtorch: built without -tags libtorch, so there is no libtorch to run")

var started = sync.OnceValues(func() (string, error) {
	if !Built {
		return "", ErrNotBuilt
	}
	s := newScratch()
	defer s.free()
	nativeStart(s.reply)
	r, err := s.read("start")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d.%d.%d", r.word(), r.word(), r.word()), nil
})

// start sets libtorch up, once.
func start() error {
	_, err := started()
	return err
}

// Version gives the version of libtorch that the package was built against.
func Version() (string, error) { return started() }

// LoadLibrary loads a shared library; the operators that it registers are
// there afterwards. It cannot be unloaded.
func LoadLibrary(path string) error {
	if err := start(); err != nil {
		return err
	}
	s := newScratch()
	defer s.free()
	nativeLoad(path, s.reply)
	if _, err := s.read("load library"); err != nil {
		return err
	}
	_, err := list()
	return err
}
