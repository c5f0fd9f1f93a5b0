package checkup

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

// The code beside a module that its user writes counts, and that beside an installed one does not.
func TestCodeBeside(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{
		"own.py", "lazy.py", "data.txt", "sub/native.so.1", ".git/hook.py", "pkg/__init__.py", "site-packages/ops/__init__.py", "site-packages/other.py",
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777))
		must.Do(t, os.WriteFile(filepath.Join(root, name), nil, 0o666))
	}
	own := []string{"lazy.py", "own.py", "pkg/__init__.py", "site-packages/ops/__init__.py", "site-packages/other.py", "sub/native.so.1"}
	for _, tt := range []struct {
		source string
		want   []string
		all    bool
	}{
		{"own.py", own, true},
		{"pkg/__init__.py", own, true},
		{"site-packages/ops/__init__.py", nil, true},
		{"missing/own.py", nil, false},
	} {
		files, all := codeBeside(filepath.Join(root, tt.source))
		for i := range files {
			files[i] = must.Get(filepath.Rel(root, files[i]))(t)
		}
		if diff := cmp.Diff(tt.want, files); diff != "" || all != tt.all {
			t.Errorf("%s: all is %v, want %v (-want +got):\n%s", tt.source, all, tt.all, diff)
		}
	}
	if files, all := codeBeside(""); files != nil || all {
		t.Errorf("a module without a file: %v, %v", files, all)
	}
	for i := range mostBeside {
		must.Do(t, os.Symlink("own.py", filepath.Join(root, "sub", strconv.Itoa(i))))
	}
	if _, all := codeBeside(filepath.Join(root, "own.py")); all {
		t.Error("a folder that is too large to look at")
	}
}
