package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/installed"
)

// announce finds the libtorch, unless it is that of a Python, prints it in one line, and leaves out libraries that
// were built for another.
func (f *checkFlags) announce(inv *invocation) (err error) {
	o, others := f.o, []*installed.Torch(nil)
	if o.Host == nil {
		for _, lib := range o.Libs {
			file, err := installed.LibraryFile(lib)
			if err != nil {
				return fmt.Errorf("-lib %s: %w", lib, err)
			}
			o.Files = append(o.Files, file)
		}
		if o.Torch, others, err = installed.Find(f.dirs.one(), o.Files...); err != nil {
			return err
		}
	}
	fmt.Fprintf(inv.stderr, "opassert: %v (%s)%s\n", o.Torch, o.Torch.Found, also(others))
	for _, file := range slices.Clone(o.Files) {
		if err := o.Torch.Takes(file); err != nil {
			failed := &engine.LoadError{Library: file, Why: err.Error()}
			if len(o.Files) == 1 {
				return failed
			}
			o.Leave(inv.stderr, failed)
		}
	}
	return nil
}

// also is the rest of the line, about unused ones.
func also(others []*installed.Torch) string {
	var b strings.Builder
	choice := ""
	for _, other := range others {
		fmt.Fprintf(&b, "; also %v (%s)", other, other.Found)
		if err := other.Usable(); err != nil {
			fmt.Fprintf(&b, ", which cannot be used: %v", err)
		} else {
			choice = "; choose with -libtorch"
		}
	}
	return b.String() + choice
}
