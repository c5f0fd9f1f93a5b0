// Package golden compares what a test makes with files of testdata, which
// go test -update writes.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/must"
)

// Update reports whether tests write the files instead of reading them.
var Update = flag.Bool("update", false, "write the golden files")

// Compare reports an error where a file of testdata is not got.
func Compare(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *Update {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, []byte(got), 0o666))
	}
	want, _ := os.ReadFile(path) // nothing where it is to be written
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s, -want +got: read the difference, and run make golden\n%s", path, diff)
	}
}
