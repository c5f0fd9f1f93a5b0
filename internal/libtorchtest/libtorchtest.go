// Package libtorchtest lets a test ask for libtorch, and for the command.
package libtorchtest

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/installed"
)

// Variable, when it is 1 in the environment, says that libtorch must be there.
const Variable = "OPASSERT_NEED_LIBTORCH"

// Need loads libtorch. Without it the test is skipped, with the
// reason; it fails if [Variable] says so, or if something else is wrong.
func Need(t testing.TB) {
	t.Helper()
	_, err := libtorch.Version()
	check(t, err)
}

// Library returns the shared library of a C++ source in a folder, compiled for
// the libtorch that [Need] loads.
func Library(t testing.TB, name, folder, source string) string {
	t.Helper()
	Need(t)
	torch, _, err := installed.Find("")
	check(t, err)
	lib := compile.Library{Name: name, Files: []fs.FS{os.DirFS(folder)}, Units: []string{source}}
	path, err := lib.Path(torch)
	check(t, err)
	return path
}

func check(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, absent := range []error{libtorch.ErrNotFound, libtorch.ErrNoHeaders, libtorch.ErrNoCompiler, libtorch.ErrNoCgo} {
		if errors.Is(err, absent) && os.Getenv(Variable) != "1" {
			t.Skipf("%v; with %s=1 this is a failure", err, Variable)
		}
	}
	t.Fatal(err)
}
