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
	dir  *string
	libs repeated

	found  *installed.Torch
	others []*installed.Torch
}

func newTorchFlags(f *flag.FlagSet) *torchFlags {
	t := new(torchFlags)
	t.dir = f.String("libtorch", "", "the `folder` of the libtorch to load: an unpacked one, the Python package torch or its environment, a prefix "+
		"(default: $LIBTORCH, the one that a -lib is linked to, the active Python's, the system's)")
	f.Var(&t.libs, "lib", "a shared `library` with ops to load; may be given several times")
	return t
}

// named reports whether the user asked for a libtorch.
func (t *torchFlags) named() bool {
	return *t.dir != "" || len(t.libs) > 0 || os.Getenv("LIBTORCH") != ""
}

// find finds the libtorch that the flags mean, once.
func (t *torchFlags) find() (err error) {
	if t.found == nil {
		t.found, t.others, err = installed.Find(*t.dir, t.libs...)
	}
	return err
}

// use says in one line which libtorch it is, and that the process loads that.
func (t *torchFlags) use(inv *invocation) error {
	if err := t.find(); err != nil {
		return err
	}
	fmt.Fprintf(inv.stderr, "opassert: %v (%s)%s\n", t.found, t.found.Found, t.also())
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
