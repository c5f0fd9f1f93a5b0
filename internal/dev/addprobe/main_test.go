package main

import (
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// The file of a new probe compiles beside the others, and an existing one is kept.
func TestBegin(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "asserts/suite/internal/probe")
	must.Do(t, os.MkdirAll(folder, 0o777))
	path := must.Get(begin(root, "other-locale"))(t)
	text := must.Get(os.ReadFile(path))(t)
	if formatted, err := format.Source(text); err != nil || string(formatted) != string(text) {
		t.Errorf("%v, want\n%s", err, formatted)
	}
	if !strings.Contains(string(text), `Name: "other-locale"`) || filepath.Base(path) != "other_locale.go" {
		t.Errorf("%s holds\n%s", path, text)
	}
	here := must.Get(filepath.Abs("../../../asserts/suite/internal/probe"))(t)
	overlay := filepath.Join(root, "overlay.json")
	replace := map[string]any{"Replace": map[string]string{filepath.Join(here, filepath.Base(path)): path}}
	must.Do(t, os.WriteFile(overlay, must.Get(json.Marshal(replace))(t), 0o666))
	if out, err := exec.Command("go", "build", "-overlay", overlay, here).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := begin(root, "other-locale"); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("an existing file: %v", err)
	}
	for _, name := range []string{"OtherLocale", "../x", "other--locale"} {
		if _, err := begin(root, name); err == nil || !strings.Contains(err.Error(), "is not the name of a probe") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
