package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// What a call changed stands beside it where a line has room, and else in a line of its own.
func TestShowJoins(t *testing.T) {
	v := finds(asserts.UndeclaredWrite, 0, "x", "8 of 8 bytes changed").Violation
	v.Op = "ns::f"
	for call, want := range map[string][][2]string{
		"ns::f(x=float32[2])": {{"call", "f(x=float32[2]): 8 of 8 bytes changed"}},
		"":                    {{"saw", "8 of 8 bytes changed"}},
		"ns::f(" + strings.Repeat("x", 80) + ")": {
			{"call", "f(" + strings.Repeat("x", 80) + ")"}, {"saw", "8 of 8 bytes changed"},
		},
	} {
		if diff := cmp.Diff(want, Show(v, call).Lines); diff != "" {
			t.Errorf("%q (-want +got)\n%s", call, diff)
		}
	}
}

// A text that is longer than its lines is cut, unless what is left is one word that ends the last.
func TestFolded(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 60))
	for _, tt := range []struct {
		text  string
		most  int
		lines int
		cut   bool
	}{
		{"a word", 2, 1, false}, {long, 4, 4, false}, {long, 2, 2, true}, {long, 1, 1, true},
		{strings.Repeat("a", 92) + " the-end", 2, 2, false}, {strings.Repeat("a", 88) + " end.", 1, 1, false},
	} {
		var b bytes.Buffer
		(&textWriter{w: &b}).folded("  x ", tt.text, 4, tt.most)
		got := strings.TrimSuffix(b.String(), "\n")
		lines := strings.Split(got, "\n")
		if len(lines) != tt.lines || strings.HasSuffix(got, " ...") != tt.cut {
			t.Errorf("%d words in at most %d lines:\n%s", len(strings.Fields(tt.text)), tt.most, got)
		}
		for _, line := range lines {
			if len(line) > width {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
	}
}

// A note that three ops share stands once; two ops each have theirs.
func TestSharedNotes(t *testing.T) {
	noted := func(name string) *OpResult {
		f := finds(asserts.MetaAlias, 0, "x", "it has no fake")
		f.Violation.Note = "not promised"
		op := ran(name)
		on(op, f, engine.CPU)
		return op
	}
	two := &Report{Ops: []*OpResult{noted("a"), noted("b")}}
	if blocks, shared := two.blocks(); len(blocks) != 2 || len(shared) != 0 {
		t.Errorf("of two ops %d blocks, %d shared notes", len(blocks), len(shared))
	}
	three := &Report{Ops: append(two.Ops, noted("c"))}
	blocks, shared := three.blocks()
	if len(blocks) != 0 || len(shared) != 1 || !strings.HasSuffix(shared[0].Says, ": 3 ops") {
		t.Errorf("of three ops %d blocks, shared %v", len(blocks), shared)
	}
}

// The text of a call names its device; a finding that needs no call has none.
func TestCallOnDevice(t *testing.T) {
	r := &Report{}
	for _, tt := range []struct {
		symptom asserts.Symptom
		device  engine.Device
		want    string
	}{
		{"", "lpu", "a(self=float32[2]) on lpu"}, {"", engine.CPU, "a(self=float32[2])"}, {asserts.NoFake, "lpu", ""},
	} {
		op, f := ran("a"), finds(asserts.MetaAlias, 0, "x", "it is wrong")
		on(op, f, tt.device).Violation.Symptom = tt.symptom
		if got := r.show(op, f).line("call"); got != tt.want {
			t.Errorf("symptom %q on %s: call %q, want %q", tt.symptom, tt.device, got, tt.want)
		}
	}
}

// again returns the command of an error, or of a note if there is none, and never that of a known finding.
func TestAgain(t *testing.T) {
	finding := func(repro, note string, known bool) *Finding {
		f := finds(asserts.UndeclaredAlias, 0, "x", "it is shared")
		f.Violation.Repro, f.Violation.Note, f.Known = repro, note, known
		return f
	}
	known, noted := finding("known", "", true), finding("noted", "a reason", false)
	for _, tt := range []struct {
		findings []*Finding
		want     string
	}{
		{[]*Finding{noted, known}, "noted"}, {[]*Finding{known, noted}, "noted"}, {[]*Finding{known}, ""},
		{[]*Finding{noted, finding("error", "", false)}, "error"}, {nil, ""},
	} {
		if got := (&Report{}).again(ran("a", tt.findings...)); !strings.HasSuffix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%v: %q, want %q", tt.findings, got, tt.want)
		}
	}
}
