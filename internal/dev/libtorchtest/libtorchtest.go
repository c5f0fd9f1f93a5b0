// Package libtorchtest gives tests a libtorch, a Python with PyTorch, and the command.
package libtorchtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/internal/locked"
	"github.com/opassert/opassert/schema"
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

// Library returns the shared library of a C++ source in a folder, compiled for the libtorch that [Need] loads, and with
// further flags.
func Library(t testing.TB, name, folder, source string, flags ...string) string {
	t.Helper()
	Need(t)
	torch, _, err := installed.Find("")
	check(t, err)
	lib := compile.CppLibrary{Name: name, Files: []fs.FS{os.DirFS(folder)}, Units: []string{source}, Link: flags}
	path, err := lib.Path(torch)
	check(t, err)
	return path
}

func check(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, absent := range []error{
		libtorch.ErrNotFound, libtorch.ErrNoHeaders, libtorch.ErrNoCompiler, libtorch.ErrNoCgo,
	} {
		if errors.Is(err, absent) && os.Getenv(Variable) != "1" {
			t.Skipf("%v; with %s=1 this is a failure", err, Variable)
		}
	}
	t.Fatal(err)
}

// Planned returns an op with every check that its schema calls for.
func Planned(t testing.TB, op *schema.Op) *asserts.Op {
	t.Helper()
	planner := must.Get(plan.NewPlanner("full", nil, allowlist.Where{}))(t)
	all := planner.Plan(op).Asserts(asserts.Meta)
	return asserts.WithParts(&all)
}

// EachPython runs a test on each Python of $OPASSERT_PYTHONS, a list like $PATH, or else on python3. Without PyTorch
// the test is skipped, or fails with OPASSERT_NEED_PYTORCH=1.
func EachPython(t *testing.T, test func(*testing.T, *installed.Python)) {
	t.Helper()
	paths := filepath.SplitList(os.Getenv("OPASSERT_PYTHONS"))
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		python, err := installed.FindPython(path)
		switch {
		case err == nil:
			t.Run(python.Torch.Number(), func(t *testing.T) { test(t, python) })
		case os.Getenv("OPASSERT_NEED_PYTORCH") != "":
			t.Error(err)
		default:
			t.Skip(err)
		}
	}
}

// Openreg makes a test's Pythons import openreg, PyTorch's example of a device whose memory the CPU may not touch, and
// returns a library of kernels for it. root is the repository's. The test is skipped before PyTorch 2.9, whose openreg
// has another name and its memory in another process.
func Openreg(t *testing.T, root string, python *installed.Python) (library string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(root, ".ci", "openreg"), python.Path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 3 {
		t.Skipf("no openreg for PyTorch %s", python.Torch.Number())
	}
	must.Do(t, err)
	folder := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(folder, "torch_openreg")); err != nil {
		t.Skipf("the openreg of PyTorch %s is pytorch_openreg, whose device is a process that imports the test's program "+
			"again: programs here have no __main__ for that", python.Torch.Number())
	}
	t.Setenv("PYTHONPATH", folder)
	kernels := compile.CppLibrary{Name: "device", Files: []fs.FS{os.DirFS(filepath.Join(root, "testdata", "device"))},
		Units: []string{"ops.cpp"}, Link: []string{"-g1"}}
	return must.Get(kernels.Path(python.Torch))(t)
}

// Command returns the file of the command, built once for all tests of a package. [Tests.Run] removes it.
func Command(t testing.TB) string {
	t.Helper()
	return must.Get(command())(t)
}

var built *locked.Folder // of the command, nil before it is built

var command = sync.OnceValues(func() (path string, err error) {
	if built, err = locked.NewFolder(os.TempDir(), "opassert-test-"); err != nil {
		return "", err
	}
	path = filepath.Join(built.Path, "opassert")
	cmd := exec.Command("go", "build", "-o", path, "github.com/opassert/opassert/cmd/opassert")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return path, nil
})

// Tests are the tests of a package that calls [Command].
type Tests struct{ *testing.M }

// Run runs them, removes the command, and returns the exit status.
func (t Tests) Run() int {
	status := t.M.Run()
	if built != nil {
		built.Remove()
	}
	return status
}
