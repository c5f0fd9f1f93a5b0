package cli

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/cmd/opassert/internal/live"
	"github.com/opassert/opassert/cmd/opassert/internal/watch"
	"github.com/opassert/opassert/internal/dev/must"
)

// Each command has a text, and each text is about a command or a topic.
func TestHelpTexts(t *testing.T) {
	want := append(commandNames(), "cases", "config", "json")
	slices.Sort(want)
	var got []string
	for _, file := range must.Get(helpTexts.ReadDir("help"))(t) {
		name := strings.TrimSuffix(file.Name(), ".txt")
		if got = append(got, name); helpText(name) == "" {
			t.Errorf("%s is empty", file.Name())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("texts of %v, want of %v", got, want)
	}
}

// The help describes each key and status of -json.
func TestJSONHelp(t *testing.T) {
	words := strings.FieldsFunc(helpText("json"), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, written := range []any{asserts.Result{}, asserts.Site{}, lintRow{}, report.ReproProgram{}, watch.Frame{}} {
		of := reflect.TypeOf(written)
		for i := range of.NumField() {
			key, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if key != "-" && !slices.Contains(words, key) {
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
