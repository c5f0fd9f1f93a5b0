package libtorchtest

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
)

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
		t.Skipf("the openreg of PyTorch %s is pytorch_openreg, whose device is a process that imports the test's program again: programs here have no __main__ for that", python.Torch.Number())
	}
	t.Setenv("PYTHONPATH", folder)
	kernels := compile.CppLibrary{Name: "device", Files: []fs.FS{os.DirFS(filepath.Join(root, "testdata", "device"))},
		Units: []string{"ops.cpp"}, Link: []string{"-g1"}}
	return must.Get(kernels.Path(python.Torch))(t)
}
