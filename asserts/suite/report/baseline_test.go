package report

import (
	"os"
	"path/filepath"
	"testing"
)

// What a kernel that reads where it may not dies of differs from run to run.
func TestBaselineKnowsCrashesOfOneFault(t *testing.T) {
	shown := func(causes ...string) *Report {
		op := &OpResult{Op: "aten::a", Ran: 1}
		for _, c := range causes {
			op.Crashes = append(op.Crashes, Crash{Cause: c, Alone: true})
		}
		return &Report{All: 1, Ops: []*OpResult{op}}
	}
	path := filepath.Join(t.TempDir(), "baseline")
	b, err := NewBaseline(path)
	if err != nil {
		t.Fatal(err)
	}
	b.Update(shown("SIGABRT"))
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Write(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if b, err = ReadBaseline(path); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		r           *Report
		found, gone int
	}{
		{shown("SIGABRT"), 0, 0},
		{shown("SIGSEGV", "SIGABRT"), 0, 0},
		{shown("SIGSEGV", "SIGFPE"), 1, 0},
		{shown("hang"), 1, 1},
		{shown(), 0, 1},
	} {
		b.Mark(tt.r)
		if n := tt.r.Findings(); n != tt.found || len(tt.r.Gone) != tt.gone {
			t.Errorf("%v: %d findings, gone %v", tt.r.Ops[0].Crashes, n, tt.r.Gone)
		}
	}
}
