//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
)

// Whatever kernels do, a wrong one never passes, a right one does, the run ends, and
// no process outlives it.
func TestHostileKernels(t *testing.T) {
	long(t)
	command, _ := tool(t)
	lib := libtorchtest.Library(t, "hostile", "../../testdata/oplib", "hostile.cpp")
	const (
		found   = "found"
		foreign = "answers in its worker's name"
	)
	for _, tt := range []struct{ op, want string }{
		{"hostile::answers", foreign},
		{"hostile::answers_and_waits", foreign},
		{"hostile::answers_without_end", foreign},
		{"hostile::dies_in_words", foreign},
		{"hostile::dies_and_waits", foreign},
		{"hostile::spies", found},
		{"hostile::child_answers", foreign},
		{"hostile::child_returns", found},
		{"hostile::child_spins", found},
		{"hostile::closes_all", "crash"},
		{"hostile::closes_and_spins", "crash"},
		{"hostile::shuts_and_waits", "crash"},
		{"hostile::replaces", "crash"},
		{"hostile::floods", foreign},
		{"hostile::reads_requests", found},
		{"hostile::stops", "crash"},
		{"hostile::ends", "crash"},
		{"hostile::kills_itself", "crash"},
		{"hostile::kills_parent", "crash"},
		{"hostile::kills_group", "crash"},
		{"hostile::breeds", "crash"},
		{"peaceful::daemon", "clean"},
		{"peaceful::child_crashes", "clean"},
		{"peaceful::child_ends", "clean"},
		{"peaceful::shell", "clean"},
	} {
		t.Run(tt.op, func(t *testing.T) {
			s := subject{dir: t.TempDir(), args: []string{"-lib", lib, "-op", tt.op, "-n", "4", "-timeout", "400ms"}}
			r := s.startAs(t, command, "", "-state", filepath.Join(s.dir, "state"))
			begun := time.Now()
			status, _ := r.end(t, "")
			got := outcome(status, r.stdout.Bytes(), r.stderr.String())
			if got != tt.want {
				t.Errorf("%s, want %s: status %d\n%.3000s\n%s", got, tt.want, status, &r.stdout, &r.stderr)
			}
			t.Logf("%s after %v", got, time.Since(begun).Round(time.Millisecond))
			if left := r.alone(); len(left) > 0 {
				t.Errorf("these outlive the run: %v", left)
			}
		})
	}
}

// outcome names the result of a run over one op.
func outcome(status int, report []byte, said string) string {
	var results []asserts.Result
	json.Unmarshal(report, &results)
	for _, r := range results {
		switch {
		case r.Status == asserts.Violated && status == 1:
			return "found"
		case r.Status == asserts.Crashed && status == 1:
			return "crash"
		}
	}
	switch {
	case status == 2 && bytes.Contains([]byte(said), []byte("the kernel may have written to file 3")):
		return "answers in its worker's name"
	case status == 0:
		return "clean"
	}
	return "something else"
}

// The effects of a library while it is loaded end the run with a message, or change
// nothing.
func TestHostileLibrary(t *testing.T) {
	long(t)
	command, _ := tool(t)
	lib := libtorchtest.Library(t, "hostile", "../../testdata/oplib", "hostile.cpp")
	got := make(map[string]string)
	for _, how := range []string{"answers", "spies", "forks", "daemon", "dies in words", "spins", "is killed", "kills its group", "aborts", "ends", "crashes"} {
		s := subject{dir: t.TempDir(), args: []string{"-lib", lib, "-op", "hostile::child_spins", "-n", "4"}}
		r := s.startAs(t, command, "export OPASSERT_TEST_HOSTILE='"+how+"';", "-state", filepath.Join(s.dir, "state"))
		status, _ := r.end(t, "")
		said := r.stderr.String()
		switch {
		case status == 2 && strings.Contains(said, lib) && strings.Contains(said, "file 3"):
			got[how] = "refused"
		case status == 2 && strings.Contains(said, "load "+lib+": "):
			got[how] = "named"
		default:
			got[how] = outcome(status, r.stdout.Bytes(), said)
		}
		if left := r.alone(); len(left) > 0 {
			t.Errorf("%s: these outlive the run: %v", how, left)
		}
	}
	want := map[string]string{"answers": "refused", "spies": "found", "forks": "found", "daemon": "found", "dies in words": "refused",
		"spins": "named", "is killed": "named", "kills its group": "named", "aborts": "named", "ends": "named", "crashes": "named"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A parent that is killed while a library hangs leaves no process.
	s := subject{dir: t.TempDir(), args: []string{"-lib", lib}}
	r := s.startAs(t, command, "export OPASSERT_TEST_HOSTILE=waits;")
	for len(r.relatives()) < 4 {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(time.Second)
	r.cmd.Process.Kill()
	r.end(t, "")
	if left := r.alone(); len(left) > 0 {
		t.Errorf("these outlive their parent: %v", left)
	}
}
