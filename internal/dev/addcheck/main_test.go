package main

import (
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

// The files of a new check compile.
func TestBegunCompiles(t *testing.T) {
	root, here := t.TempDir(), must.Get(filepath.Abs("../../.."))(t)
	folders := []string{"asserts", "internal/testbed/faults"}
	for _, dir := range folders {
		must.Do(t, os.MkdirAll(filepath.Join(root, dir), 0o777))
	}
	must.Do(t, begin(root, "within-page", true))
	must.Do(t, begin(root, "within-line", false))
	begun := make(map[string]string)
	for _, dir := range folders {
		for _, file := range must.Get(filepath.Glob(filepath.Join(root, dir, "*.go")))(t) {
			begun[filepath.Join(here, dir, filepath.Base(file))] = file
		}
	}
	overlay := filepath.Join(root, "overlay.json")
	must.Do(t, os.WriteFile(overlay, must.Get(json.Marshal(map[string]any{"Replace": begun}))(t), 0o666))
	if out, err := exec.Command("go", "build", "-overlay", overlay, filepath.Join(here, folders[1])).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// A new check is two Go files and an unused code.
func TestBegin(t *testing.T) {
	for _, ofReturn := range []bool{true, false} {
		root := t.TempDir()
		for _, dir := range []string{"asserts", "internal/testbed/faults"} {
			must.Do(t, os.MkdirAll(filepath.Join(root, dir), 0o777))
		}
		must.Do(t, begin(root, "within-page", ofReturn))
		for _, file := range []string{"asserts/check_within_page.go", "internal/testbed/faults/within_page.go"} {
			text := must.Get(os.ReadFile(filepath.Join(root, file)))(t)
			if formatted, err := format.Source(text); err != nil || string(formatted) != string(text) {
				t.Errorf("%s, %v: want\n%s", file, err, formatted)
			}
		}
		text, _ := os.ReadFile(filepath.Join(root, "asserts/check_within_page.go"))
		code := newCheck("within-page", ofReturn).Code
		if code.Name() != "" || (code-1).Name() == "" || !strings.Contains(string(text), "is "+code.String()+".") {
			t.Errorf("the code is %v in\n%s", code, text)
		}
		if err := begin(root, "within-page", ofReturn); err == nil || !strings.Contains(err.Error(), "exists") {
			t.Errorf("an existing file: %v", err)
		}
	}
}

func TestBeginRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"WithinPage": "is not the name of a check", "../x": "is not the name of a check", "within--page": "is not the name of a check",
		asserts.FreshImpl.Name(): "already is the name of OA003",
	} {
		if err := begin(t.TempDir(), name, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
