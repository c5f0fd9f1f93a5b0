package trace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/internal/dev/must"
)

const createdLine = "[a.cpp:1] (0x10), created storage PyObject of type T at 0x20\n"

// A log from another patch is an error.
func TestRead(t *testing.T) {
	read := func(text string) (LogReport, error) {
		file := filepath.Join(t.TempDir(), "log")
		must.Do(t, os.WriteFile(file, []byte(text), 0o666))
		r, err := Read(file, "", func(Life) {})
		if err != nil {
			err = errors.New(strings.TrimPrefix(err.Error(), file))
		}
		return r, err
	}
	unknown := "[a.cpp:1] (0x10) asking the moon\n"
	twice := createdLine + "[a.cpp:1] (PyObject: 0x20) preserving PyObject\n" + strings.Repeat("[a.cpp:1] (0x10) PyObject was preserved, resurrecting\n", 2)
	for _, tt := range []struct {
		text    string
		records int64
		err     string
	}{
		{strings.Repeat(createdLine, 3), 3, ""},
		{createdLine + unknown, 2, ""},
		{createdLine + unknown + unknown, 3, `:2:1: 2 of the log's 3 lines are unknown, from this one on: "(0x10) asking the moon"; ` +
			"they are from another patch than those that print the storages' objects"},
		{twice + strings.Repeat(unknown, 9), 13, ""}, // of which one broke something
	} {
		r, err := read(tt.text)
		if r.Records != tt.records || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%.40q: %d records, error %v; want %d, %s", tt.text, r.Records, err, tt.records, tt.err)
		}
	}
}

// The file - is standard input.
func TestStandardInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	must.Do(t, os.WriteFile(file, []byte(createdLine), 0o666))
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	os.Stdin = must.Get(os.Open(file))(t)
	if r, err := Read("-", "", func(Life) {}); err != nil || r.Records != 1 {
		t.Errorf("%d records, error %v", r.Records, err)
	}
}

// A summary leaves out empty parts.
func TestSummary(t *testing.T) {
	for want, r := range map[string]LogReport{
		"0 violations in 0 records of 0 lines: 0 objects, 0 impls, 0 tensors, 0 unknown": {},
		"1 violation (0 findings), 1 warning in 1 record of 2 lines: 1 object, 0 impls, 0 tensors, storage replaced once, 3 unknown": {
			Violations: []InvariantViolation{{Root: 5}}, Warnings: make([]InvariantViolation, 1), Records: 1, Lines: 2, Lives: [numKinds]int64{Object: 1}, Replaced: 1, Unknown: 3,
		},
	} {
		if got := r.Summary(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A violation follows from the root of its process, line and code.
func TestBelow(t *testing.T) {
	root := InvariantViolation{Line: 5, Code: preserve.SharedDealloc}
	others := []InvariantViolation{{Line: 5, Code: preserve.Hermetic}, {Line: 6, Code: preserve.SharedDealloc}, {Line: 5, Code: preserve.SharedDealloc, World: "rank1"}}
	r := LogReport{Violations: append([]InvariantViolation{root}, others...)}
	for i, follows := range []InvariantViolation{{Line: 8}, {Line: 9, Consequence: 20}} {
		follows.Code, follows.Object, follows.Root, follows.root = preserve.SharedDealloc, Address(i+1), 5, &root
		follows.Evidence = []Reason{{Line: 7, Says: "why"}}
		r.Violations = append(r.Violations, follows)
	}
	for _, v := range others {
		if below := r.below(&v); len(below) > 0 {
			t.Errorf("%d follow from %+v", len(below), v)
		}
	}
	var b bytes.Buffer
	must.Do(t, r.WriteText(&b))
	first, _, _ := strings.Cut(b.String(), "\n\n")
	want := []string{"OA102 shared-dealloc  object 0, impl 0: line 5",
		"OA102 shared-dealloc  object 0x2, impl 0: line 9", "  later   line 20 uses the deallocated object",
		"OA102 shared-dealloc  object 0x1, impl 0: line 8", "  later   the log does not show a use of it"}
	var got []string
	for line := range strings.Lines(first) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "OA") || strings.HasPrefix(line, "  later") {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(first, "it costs 2 objects") || strings.Contains(first, "why") {
		t.Errorf("%s\n%s", diff, first)
	}
}

func broken(kind LifeKind, at, impl Address, line int64, code preserve.Code) Life {
	return Life{Kind: kind, Address: at, Impl: impl, Events: []Event{{Line: line, What: Deallocated, Code: code, Count: NoCount}}}
}

func addresses(lives []Life) (all []Address) {
	for _, l := range lives {
		all = append(all, l.Address)
	}
	return all
}

// The object and the impl of a violation are shown with the lives that touch the impl.
func TestAround(t *testing.T) {
	const code = preserve.SharedDealloc
	h := NewHTML("")
	otherRank, touching := broken(Impl, 0x10, 0, 5, 0), broken(Tensor, 0x50, 0x20, 5, 0)
	otherRank.World, touching.Events[0].At = "rank1", 0x10
	for _, l := range []Life{
		touching, broken(Impl, 0x10, 0, 1, 0), broken(Object, 1, 0x10, 5, code), otherRank,
		broken(Object, 1, 0x99, 6, code), broken(Object, 1, 0x99, 5, preserve.Hermetic), broken(Object, 2, 0x99, 5, code),
		broken(Tensor, 1, 0x99, 5, code), broken(Tensor, 0x10, 0x20, 5, 0), broken(Impl, 0x20, 0, 1, 0),
	} {
		h.Life(l)
	}
	for i := range maxBeside {
		h.Life(broken(Tensor, Address(0x60+i), 0x10, 5, 0))
	}
	v := InvariantViolation{Code: code, Line: 5, Object: 1, Impl: 0x10}
	got := addresses(h.around(&v))
	want := []Address{1, 0x10, 0x50, 0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	v.Impl = 0 // without a life
	h.Life(Life{Kind: Impl})
	if got := addresses(h.around(&v)); len(got) != 1 {
		t.Errorf("%v around a violation without an impl", got)
	}
}

// A page draws violations with a later use first, and keeps a limited number of other lives.
func TestPageLimits(t *testing.T) {
	h := NewHTML("")
	for i := range maxKept + 1 {
		h.Life(broken(Object, Address(i+1), 0, int64(maxKept-i), 0))
	}
	h.Life(broken(Object, 0x20, 0x10, 5, preserve.SharedDealloc))
	if n := len(h.lives); n != maxKept+1 || !h.lives[n-1].Broken() {
		t.Errorf("%d lives kept", n)
	}
	r := LogReport{Violations: []InvariantViolation{
		{Code: preserve.SharedDealloc, Line: 3}, {Code: preserve.SharedDealloc, Line: 5, Object: 0x20, Impl: 0x10, Consequence: 9}}}
	p := h.draw(r)
	if b := p.Breaks; len(b) != 2 || b[0].InvariantViolation.Line != 5 || len(b[0].Rows) != 1 {
		t.Errorf("%+v", b)
	}
}

// The consequence is drawn if it is on another line.
func TestLater(t *testing.T) {
	lives := []Life{broken(Object, 1, 0x10, 5, preserve.UseAfter)}
	for consequence, drawn := range map[int64]bool{0: false, 5: false, 9: true} {
		v := InvariantViolation{Line: 5, Consequence: consequence}
		if d := rows(lives, steps(lives, &v), &v)[0]; (d.Later != 0) != drawn {
			t.Errorf("consequence at line %d: drawn at %g", consequence, d.Later)
		}
	}
}

// A bar ends where the next begins, and soon after a deallocation that is the last event.
func TestBars(t *testing.T) {
	place := func(line int64) float64 { return float64(10 * line) }
	for want, events := range map[string][]Event{
		"[]":                              nil,
		"[{10 88 freed}]":                 {{Line: 1, What: Deallocated}},
		"[{10 10 holding} {20 1 freed}]":  {{Line: 1, What: Created}, {Line: 2, What: Deallocated}},
		"[{10 10 holding} {20 78 freed}]": {{Line: 1, What: Created}, {Line: 2, What: Preserved}, {Line: 2, What: NotDeallocated}},
		"[{10 88 holding}]":               {{Line: 1, What: Created}},
	} {
		got := []string{}
		for _, b := range bars(Life{Events: events}, place) {
			got = append(got, fmt.Sprintf("{%g %g %s}", b.X, b.Width, b.Class))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%v: %v, want %s", events, got, want)
		}
	}
}

// The event that broke the rule is marked, not another one on its line.
func TestSteps(t *testing.T) {
	life := Life{Events: []Event{{Line: 5}, {Line: 5, Code: preserve.SharedDealloc}, {Line: 5, Code: preserve.Hermetic}, {Line: 6, Code: preserve.SharedDealloc}}}
	var got []string
	for _, s := range steps([]Life{life}, &InvariantViolation{Line: 5, Code: preserve.SharedDealloc}) {
		got = append(got, s.Class)
	}
	if diff := cmp.Diff([]string{"", "break", "", ""}, got); diff != "" {
		t.Error(diff)
	}
}

// An event names the other object, also if it is none.
func TestEventString(t *testing.T) {
	for want, e := range map[string]Event{
		string(Preserved):               {What: Preserved, Count: NoCount},
		string(Preserved) + " 0x10 T 2": {What: Preserved, At: 0x10, Type: "T", Count: 2},
		string(Accessed) + " 0":         {What: Accessed, Count: NoCount},
		string(Replaced) + " 0":         {What: Replaced, Count: NoCount},
		string(CheckDiffers) + " 0":     {What: CheckDiffers, Count: NoCount},
	} {
		if got := e.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A life in which everything broke keeps the first events.
func TestBrokenLife(t *testing.T) {
	var l Life
	for i := range MaxEvents + 2 {
		l.add(Event{Line: int64(i), Code: preserve.SharedDealloc})
	}
	if len(l.Events) != MaxEvents || l.Dropped != 2 || l.Events[MaxEvents-1].Line != MaxEvents-1 {
		t.Errorf("%d events, %d dropped", len(l.Events), l.Dropped)
	}
}
