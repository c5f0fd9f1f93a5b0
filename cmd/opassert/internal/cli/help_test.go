package cli

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/cmd/opassert/internal/live"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
	"github.com/opassert/opassert/cmd/opassert/internal/watch"
	"github.com/opassert/opassert/docs/reference"
	"github.com/opassert/opassert/internal/dev/must"
)

// Each command has a text, and each page is a topic.
func TestHelpTexts(t *testing.T) {
	for of, names := range map[fs.FS][]string{helpTexts: append(commandNames(), "help"), reference.Pages: topics} {
		names = slices.Sorted(slices.Values(names))
		var got []string
		must.Do(t, fs.WalkDir(of, ".", func(name string, d fs.DirEntry, err error) error {
			if info, _ := d.Info(); !d.IsDir() && info.Size() > 0 {
				got = append(got, strings.TrimSuffix(d.Name(), path.Ext(name)))
			}
			return err
		}))
		if !slices.Equal(got, names) {
			t.Errorf("texts of %v, want of %v", got, names)
		}
	}
}

// The help describes each key and status of -json.
func TestJSONHelp(t *testing.T) {
	words := strings.FieldsFunc(string(must.Get(reference.Pages.ReadFile("json.md"))(t)), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, written := range []any{asserts.Result{}, asserts.Site{}, torch.LintRow{}, report.ReproProgram{}, watch.Frame{}} {
		of := reflect.TypeOf(written)
		for i := range of.NumField() {
			key, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if key != "-" && !of.Field(i).Anonymous && !slices.Contains(words, key) {
				t.Errorf("no word about the key %q of %v", key, of)
			}
		}
	}
	for _, key := range keysOfFindings(t) {
		if !slices.Contains(words, key) {
			t.Errorf("no word about the key %q of run", key)
		}
	}
	for _, status := range []asserts.Status{asserts.Violated, asserts.Noted, asserts.Passed, asserts.Skipped, asserts.Crashed, asserts.Known, asserts.Failed} {
		if !slices.Contains(words, string(status)) {
			t.Errorf("no word about the status %q", status)
		}
	}
}

// keysOfFindings returns the keys of a finding of run with all of them.
func keysOfFindings(t *testing.T) []string {
	objects := &live.ObjectReport{Findings: []*live.ObjectFinding{{Code: preserve.SameObject, Type: "m.C", Made: "m.py:1", Root: new(live.ObjectFinding), Site: new(live.PythonLine)}}}
	ops := &watch.OpReport{Findings: []*watch.OpFinding{{
		Violation: &asserts.Violation{Op: "my::op", Code: asserts.FreshImpl, Note: "debatable", Answer: &asserts.Answer{Class: "m.C"}},
		Pids:      []int{1}, Rank: "0", Known: true, Program: new(report.ReproProgram),
	}}}
	var text bytes.Buffer
	must.Do(t, ops.WriteJSON(&text, objects.JSON()...))
	var found []map[string]any
	must.Do(t, json.Unmarshal(text.Bytes(), &found))
	var keys []string
	for _, f := range found {
		keys = slices.AppendSeq(keys, maps.Keys(f))
	}
	return keys
}
