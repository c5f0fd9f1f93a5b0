//go:build linux

package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opassert/opassert/cmd/opassert/internal/settings"
	"github.com/opassert/opassert/internal/dev/must"
)

// A file of another user, or one that applies because of that user's file, is an error with the
// way to allow it.
func TestFileOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	const stranger = 54321
	for _, tt := range []struct{ name, theirs string }{
		{"the file", settings.FileName}, {"the repository", ".git"}, {"the module", "go.mod"}, {"a link", "link"}, {"the target of a link", "elsewhere"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			top := t.TempDir()
			below := filepath.Join(top, "below")
			must.Do(t, os.Mkdir(below, 0o700))
			for _, name := range []string{settings.FileName, "elsewhere", ".git"} {
				must.Do(t, os.WriteFile(filepath.Join(top, name), nil, 0o600))
			}
			switch tt.theirs {
			case "link", "elsewhere":
				must.Do(t, os.Remove(filepath.Join(top, settings.FileName)))
				must.Do(t, os.Symlink("elsewhere", filepath.Join(top, settings.FileName)))
			case "go.mod":
				must.Do(t, os.WriteFile(filepath.Join(top, tt.theirs), nil, 0o600))
			}
			if path, err := settings.Find(below); err != nil || path != filepath.Join(top, settings.FileName) {
				t.Fatalf("the user's own is %q, %v", path, err)
			}
			theirs := filepath.Join(top, strings.Replace(tt.theirs, "link", settings.FileName, 1))
			must.Do(t, os.Lchown(theirs, stranger, stranger))
			_, err := settings.Find(below)
			if err == nil || !strings.Contains(err.Error(), "belongs to another user") || !strings.Contains(err.Error(), "OPASSERT_SAFE_DIRECTORY="+top+" ") {
				t.Errorf("%v", err)
			}
			t.Setenv("OPASSERT_SAFE_DIRECTORY", "/elsewhere:"+top)
			if _, err := settings.Find(below); err != nil {
				t.Errorf("allowed, it is an error: %v", err)
			}
		})
	}
}
