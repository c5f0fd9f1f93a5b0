package libtorchtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/opassert/opassert/internal/locked"
)

// Command returns the file of the command, built once for all tests of a package. [Tests.Run] removes it.
func Command(t testing.TB) string {
	t.Helper()
	path, err := command()
	if err != nil {
		t.Fatal(err)
	}
	return path
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
