package asserts_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// golden holds got against a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := os.ReadFile(path) // nothing where it is to be written
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s, -want +got: read the difference, and run make golden\n%s", path, diff)
	}
}
