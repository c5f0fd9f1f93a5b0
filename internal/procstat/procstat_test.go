package procstat

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// The name of a program may look like the fields after it.
func TestRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stat")
	must.Do(t, os.WriteFile(file, []byte("7 (a) R 1) S 5 6\n"), 0o600))
	if got := Read(file); !slices.Equal(got, []string{"S", "5", "6"}) {
		t.Errorf("the fields are %q", got)
	}
	if got := Of(-1); len(got) > 0 {
		t.Errorf("an absent process has %q", got)
	}
}
