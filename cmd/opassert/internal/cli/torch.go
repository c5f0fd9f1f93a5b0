package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/libtorch/installed"
)

// torchFlags say which libtorch a command loads, and what it loads into it.
type torchFlags struct {
	dirs *repeated // of -libtorch
	libs repeated

	found  *installed.Torch
	others []*installed.Torch
}

func newTorchFlags(f *flag.FlagSet, s schemaFlags) *torchFlags {
	t := &torchFlags{dirs: s.dirs}
	f.Var(&t.libs, "lib", "a shared `library` with ops to load; may be given several times")
	return t
}

var errOneLibtorch = usagef("want one -libtorch: only check compares several")

// named reports whether the user asked for a libtorch.
func (t *torchFlags) named() bool {
	return len(*t.dirs) > 0 || len(t.libs) > 0 || os.Getenv("LIBTORCH") != ""
}

// find finds the libtorch that the flags mean, once.
func (t *torchFlags) find() (err error) {
	if len(*t.dirs) > 1 {
		return errOneLibtorch
	}
	if t.found == nil {
		t.found, t.others, err = installed.Find(t.dirs.one(), t.libs...)
	}
	return err
}

// tell finds the libtorch, and says in one line which it is.
func (t *torchFlags) tell(inv *invocation) error {
	if err := t.find(); err != nil {
		return err
	}
	fmt.Fprintf(inv.stderr, "opassert: %v (%s)%s\n", t.found, t.found.Found, t.also())
	return nil
}

// use finds the libtorch for this process to load.
func (t *torchFlags) use(inv *invocation) error {
	if err := t.tell(inv); err != nil {
		return err
	}
	return libtorch.Use(t.found.Root)
}

// also is the rest of the line, about those that are not taken.
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
