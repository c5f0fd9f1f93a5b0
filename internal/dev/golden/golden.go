// Package golden compares the output of a test with files of testdata. go test
// -update writes them, go test -add those that are not committed yet.
package golden

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

// Update reports whether tests write the files instead of comparing them.
var (
	Update = flag.Bool("update", false, "write the golden files")
	add    = flag.Bool("add", false, "write the golden files that are missing, or that git does not track")
)

// Compare reports an error if a file of testdata differs from got.
func Compare(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	want, err := os.ReadFile(path)
	if *Update || *add && (err != nil || untracked(path)) {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, []byte(got), 0o666))
		want = []byte(got)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s, -want +got: if the difference is intended, go test -update writes the file\n%s", path, diff)
	}
}

// untracked reports whether git knows that it does not track a file.
func untracked(path string) bool {
	var exit *exec.ExitError
	return errors.As(exec.Command("git", "ls-files", "--error-unmatch", path).Run(), &exit) && exit.ExitCode() == 1
}
