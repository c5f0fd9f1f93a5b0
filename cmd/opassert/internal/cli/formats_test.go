package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/must"
)

var ofEachStatus = []asserts.Result{
	{Op: "a::violated", Code: asserts.FreshImpl, Subject: "result", Status: asserts.Violated, Report: "saw it"},
	{Op: "a::crashed", Status: asserts.Crashed, Case: "7", Reason: "SIGSEGV", Report: "it crashed \x1b[31m here"},
	{Op: "a::noted", Code: asserts.UndeclaredWrite, Subject: "x", Status: asserts.Noted, Reason: "debatable", Report: "a note"},
	{Op: "a::known", Code: asserts.FreshImpl, Subject: "result", Status: asserts.Known, Report: "as before"},
	{Op: "a::failed", Status: asserts.Failed, Reason: "no argument"},
	{Op: "a::skipped", Code: asserts.MetaAlias, Status: asserts.Skipped, Reason: "no kernel", Count: 3},
	{Op: "a::passed", Code: asserts.MetaAlias, Status: asserts.Passed, Count: 3},
}

// A file that is full after so many bytes.
type fullFile struct{ room int }

func (f *fullFile) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

// Each format names what is wrong, keeps to itself what a terminal would take for a
// command, and loses no error.
func TestFormats(t *testing.T) {
	for _, f := range formats {
		var text, again bytes.Buffer
		must.Do(t, f.write(&text, ofEachStatus))
		must.Do(t, f.write(&again, ofEachStatus))
		if text.String() != again.String() {
			t.Errorf("-%s writes other bytes the second time", f.name)
		}
		for _, r := range badOnly(ofEachStatus) {
			if !strings.Contains(text.String(), r.Op) {
				t.Errorf("-%s does not write the result of %s, which is %s:\n%s", f.name, r.Op, r.Status, &text)
			}
		}
		if strings.Contains(text.String(), "\x1b") {
			t.Errorf("-%s writes control characters of others: see package printable", f.name)
		}
		if err := f.write(io.Discard, nil); err != nil {
			t.Errorf("-%s, of no results: %v", f.name, err)
		}
		if f.write(&fullFile{text.Len() - 1}, ofEachStatus) == nil {
			t.Errorf("-%s loses the error of a full disk", f.name)
		}
	}
}

// Each format is in a script, which reads what a user's command writes.
func TestFormatsHaveScripts(t *testing.T) {
	var all string
	scripts := must.Get(filepath.Glob("../../testdata/script/*.txtar"))(t)
	for _, script := range scripts {
		all += string(must.Get(os.ReadFile(script))(t))
	}
	for _, f := range formats {
		read := false
		for _, m := range regexp.MustCompile(`exec opassert check .*-`+f.name+` (\S+)`).FindAllStringSubmatch(all, -1) {
			read = read || regexp.MustCompile(`(?m)^(grep|cmp) .*\b`+regexp.QuoteMeta(m[1])+`\b`).MatchString(all)
		}
		if !read {
			t.Errorf("no script reads what -%[1]s writes: add to cmd/opassert/testdata/script/check.txtar, with what stands in the file,\n\n"+
				"exec opassert check -engine c10 -op relu -%[1]s out.%[1]s\ngrep 'relu' out.%[1]s\n\nand a golden to TestWriters in asserts/result_test.go", f.name)
		}
	}
}
