// Package libtorchtest gives tests a libtorch, a Python with PyTorch, and the command.
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

// Variable, if it is 1 in the environment, makes a missing libtorch a failure.
const Variable = "OPASSERT_NEED_LIBTORCH"

// Need loads libtorch. Without one the test is skipped, with the reason, or fails if
// [Variable] is 1; any other error is a failure.
func Need(t testing.TB) {
	t.Helper()
	_, err := libtorch.Version()
	check(t, err)
}

// Library returns the shared library of a C++ source in a folder, compiled for the libtorch that [Need] loads.
func Library(t testing.TB, name, folder, source string) string {
	t.Helper()
	Need(t)
	torch, _, err := installed.Find("")
	check(t, err)
	lib := compile.CppLibrary{Name: name, Files: []fs.FS{os.DirFS(folder)}, Units: []string{source}}
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
