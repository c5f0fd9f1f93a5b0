package main

import (
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/must"
)

// A check that is begun is two files of Go, with a code that no check has.
func TestBegin(t *testing.T) {
	for _, ofReturn := range []bool{true, false} {
		root := t.TempDir()
		for _, dir := range []string{"asserts", "internal/c10/faults"} {
			must.Do(t, os.MkdirAll(filepath.Join(root, dir), 0o777))
		}
		must.Do(t, begin(root, "within-page", ofReturn))
		for _, file := range []string{"asserts/check_within_page.go", "internal/c10/faults/within_page.go"} {
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
			t.Errorf("a file that is there: %v", err)
		}
	}
}

func TestBeginRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"WithinPage": "is not the name of a check", "../x": "is not the name of a check", "within--page": "is not the name of a check",
		asserts.FreshImpl.Name(): "is the name of OA003",
	} {
		if err := begin(t.TempDir(), name, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
