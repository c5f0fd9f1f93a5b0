package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts/suite/engine"
)

func TestCrashCounts(t *testing.T) {
	for _, tt := range []struct {
		c    Crash
		want bool
	}{
		{Crash{Alone: true}, true}, {Crash{}, false}, {Crash{Alone: true, Waived: "why"}, false}, {Crash{Alone: true, Known: true}, false},
	} {
		if tt.c.Counts() != tt.want {
			t.Errorf("%+v counts: %v", tt.c, !tt.want)
		}
	}
}

// A crash in the first call of a case replaces those of its twins on other devices.
func TestAddCrash(t *testing.T) {
	twins := []Crash{{Case: 1, Device: "meta", Twin: true}, {Case: 2, Device: "meta", Twin: true}, {Case: 2, Device: "lpu", Twin: true}}
	for _, tt := range []struct {
		name     string
		had      []Crash
		added    Crash
		replaced []engine.Device
		left     int
	}{
		{"in the first call", twins, Crash{Case: 2, Device: "cpu"}, []engine.Device{"lpu", "meta"}, 2},
		{"of all there are", twins[1:], Crash{Case: 2, Device: "cpu"}, []engine.Device{"lpu", "meta"}, 1},
		{"before the call", twins, Crash{Case: 2}, nil, 4},
		{"of another twin", twins, Crash{Case: 2, Device: "xpu", Twin: true}, nil, 4},
		{"in another case", twins, Crash{Case: 3, Device: "cpu"}, nil, 4},
		{"in the first call, again", []Crash{{Case: 2, Device: "cpu"}}, Crash{Case: 2, Device: "cpu"}, nil, 2},
		{"first", nil, Crash{Case: 2, Device: "cpu"}, nil, 1},
	} {
		r := OpResult{Crashes: append([]Crash(nil), tt.had...)}
		replaced := r.AddCrash(&tt.added)
		if diff := cmp.Diff(tt.replaced, replaced); diff != "" || len(r.Crashes) != tt.left || r.Crashes[tt.left-1].Device != tt.added.Device {
			t.Errorf("%s: replaced %v, left %v", tt.name, replaced, r.Crashes)
		}
	}
}

func TestInPython(t *testing.T) {
	for _, tt := range []struct {
		frames []string
		want   bool
	}{
		{nil, false},
		{[]string{"PyErr_Occurred (libpython3.11.so)"}, true},
		{[]string{"kernel (libx.so)", "PyErr_Occurred (libpython3.11.so)"}, false},
	} {
		if c := (Crash{Frames: tt.frames}); c.InPython() != tt.want {
			t.Errorf("%q: %v", tt.frames, !tt.want)
		}
	}
}

// The message with which an op ended its worker is in its report.
func TestCrashSaid(t *testing.T) {
	r := new(Report)
	op := &OpResult{Op: "my::f"}
	if got := r.CrashText(op, Crash{Cause: "SIGABRT", Said: "n != 8"}); !strings.Contains(got, "\n  said    n != 8\n") {
		t.Error(got)
	}
	if got := r.CrashText(op, Crash{Cause: "SIGABRT"}); strings.Contains(got, "said") {
		t.Error(got)
	}
}

// Crashes of another are the op's where it has no other calls.
func TestBlameOp(t *testing.T) {
	for cases, want := range map[int]string{2: "", 3: "PyTorch itself"} {
		foreign := Crash{Foreign: true, Waived: "PyTorch itself"}
		r := OpResult{Cases: cases, Crashes: []Crash{foreign, foreign}}
		if r.BlameOp(); r.Crashes[0].Waived != want || r.Crashes[1].Foreign != (want != "") {
			t.Errorf("%d cases: %+v", cases, r.Crashes)
		}
	}
}
