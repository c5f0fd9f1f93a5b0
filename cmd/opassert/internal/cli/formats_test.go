package cli

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

var ofEachStatus = []asserts.Result{
	{Op: "a::violated", Code: asserts.FreshImpl, Subject: "result", Status: asserts.Violated, Report: "saw it"},
	{Op: "a::crashed", Status: asserts.Crashed, Case: "7", Reason: "SIGSEGV", Report: "it crashed here"},
	{Op: "a::noted", Code: asserts.UndeclaredWrite, Subject: "x", Status: asserts.Noted, Reason: "debatable", Report: "a note"},
	{Op: "a::known", Code: asserts.FreshImpl, Subject: "result", Status: asserts.Known, Report: "as before"},
	{Op: "a::failed", Status: asserts.Failed, Reason: "no argument"},
	{Op: "a::skipped", Code: asserts.MetaAlias, Status: asserts.Skipped, Reason: "no kernel", Count: 3},
	{Op: "a::passed", Code: asserts.MetaAlias, Status: asserts.Passed, Count: 3},
}

// hostile returns results with a terminal command in every text.
func hostile(results []asserts.Result) []asserts.Result {
	results = slices.Clone(results)
	for i := range results {
		for _, field := range reflect.ValueOf(&results[i]).Elem().Fields() {
			if field.CanSet() && field.Type() == reflect.TypeFor[string]() {
				field.SetString(field.String() + "\x1b[31m")
			}
		}
	}
	return results
}

// A full fails after a number of bytes.
type fullFile struct{ room int }

func (f *fullFile) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

// Each format writes all results, escapes terminal commands, and returns write errors.
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
		must.Do(t, f.write(&again, hostile(ofEachStatus)))
		if strings.Contains(again.String(), "\x1b") {
			t.Errorf("-%s writes control characters of foreign text: see package printable", f.name)
		}
		if err := f.write(io.Discard, nil); err != nil {
			t.Errorf("-%s, of no results: %v", f.name, err)
		}
		if f.write(&fullFile{text.Len() - 1}, ofEachStatus) == nil {
			t.Errorf("-%s loses the error of a full disk", f.name)
		}
	}
}

// The flag of each format names its output file.
func TestFormatFlags(t *testing.T) {
	for i, f := range formats {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		files, file := newFormatFlags(flags), filepath.Join(t.TempDir(), "results")
		must.Do(t, flags.Parse([]string{"-" + f.name, file}))
		must.Do(t, files.write(ofEachStatus))
		var want bytes.Buffer
		must.Do(t, f.write(&want, ofEachStatus))
		if got := must.Get(os.ReadFile(file))(t); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("-%s writes\n%s", f.name, got)
		}
		if *files[i] != file {
			t.Errorf("-%s names %q", f.name, *files[i])
		}
	}
}
