package cli

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
	"github.com/opassert/opassert/internal/installed"
)

// torchFlags name the libtorch that a command loads, and the libraries to load into it.
type torchFlags struct {
	dirs *repeated // of -libtorch
	libs repeated

	found              *installed.Torch
	others             []*installed.Torch
	fault              error // of finding them
	*checkup.Libraries       // named by libs
}

func newTorchFlags(f *flag.FlagSet, dirs *repeated) *torchFlags {
	t := &torchFlags{dirs: dirs, Libraries: new(checkup.Libraries)}
	f.Var(&t.libs, "lib", "")
	return t
}

// find finds the libtorch of the flags, once, and the libraries of ops.
func (t *torchFlags) find() (err error) {
	if t.found != nil || t.fault != nil {
		return t.fault
	}
	defer func() { t.fault = err }()
	names := make([]string, len(t.libs))
	for i, lib := range t.libs {
		if names[i], err = installed.LibraryFile(lib); err != nil {
			return fmt.Errorf("-lib %s: %w", lib, err)
		}
	}
	t.found, t.others, err = installed.Find(t.dirs.one(), names...)
	for i, lib := range t.libs {
		if err != nil {
			break
		}
		files := []string{names[i]}
		if names[i] == "" {
			if files, err = t.found.Libraries(lib); err != nil {
				err = fmt.Errorf("-lib %s: %w", lib, err)
			}
		}
		t.Files = append(t.Files, files...)
	}
	return err
}

// unloaded returns an error if a file of -lib was not loaded. Some libraries of a
// package may fail, as those for absent devices.
func (t *torchFlags) unloaded() error {
	for _, lib := range t.libs {
		file, err := installed.LibraryFile(lib)
		if err == nil && file != "" && !slices.Contains(t.Files, file) {
			return fmt.Errorf("%s could not be loaded", lib)
		}
	}
	return nil
}

// announce finds the libtorch, prints it in one line, and leaves out libraries that were built for another.
func (t *torchFlags) announce(inv *invocation) error {
	if err := t.find(); err != nil {
		return err
	}
	fmt.Fprintf(inv.stderr, "opassert: %v (%s)%s\n", t.found, t.found.Found, t.also())
	for _, file := range slices.Clone(t.Files) {
		if err := t.found.Takes(file); err != nil {
			failed := &engine.LoadError{Library: file, Why: err.Error()}
			if len(t.Files) == 1 {
				return failed
			}
			t.Leave(inv.stderr, failed)
		}
	}
	return nil
}

// use finds the libtorch for this process to load.
func (t *torchFlags) use(inv *invocation) error {
	if err := t.announce(inv); err != nil {
		return err
	}
	return libtorch.Use(t.found.Root, t.found.Needs(t.Files...)...)
}

// also is the rest of the line, about unused ones.
func (t *torchFlags) also() string {
	var b strings.Builder
	choice := ""
	for _, other := range t.others {
		fmt.Fprintf(&b, "; also %v (%s)", other, other.Found)
		if err := other.Usable(); err != nil {
			fmt.Fprintf(&b, ", which cannot be used: %v", err)
		} else {
			choice = "; choose with -libtorch"
		}
	}
	return b.String() + choice
}
