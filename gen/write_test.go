package gen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "a.go")
	files := []File{{path, []byte("one\n")}}
	if stale, err := Stale(files); err != nil || len(stale) != 1 {
		t.Fatalf("Stale of a missing file = %v, %v; want it", stale, err)
	}
	if err := Write(files); err != nil {
		t.Fatal(err)
	}
	if stale, err := Stale(files); err != nil || len(stale) != 0 {
		t.Errorf("Stale of a written file = %v, %v; want none", stale, err)
	}
	if names := list(t, filepath.Dir(path)); names != "a.go" {
		t.Errorf("the folder holds %s, want a.go alone", names)
	}
	diff, err := Diff([]File{{path, []byte("two\n")}})
	if err != nil || !strings.Contains(string(diff), "-one\n+two\n") {
		t.Errorf("Diff = %q, %v", diff, err)
	}
}

// A file that can't be put in place leaves nothing behind, and the old one whole.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.go")
	if err := os.Mkdir(path, 0o777); err != nil { // a folder can't be replaced by a file
		t.Fatal(err)
	}
	err := Write([]File{{path, []byte("one\n")}})
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v does not name the file", err)
	}
	if names := list(t, dir); names != "a.go" {
		t.Errorf("the folder holds %s, want a.go alone", names)
	}
}

func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
