package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/locked"
)

func says(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func entries(t *testing.T) (all []string) {
	t.Helper()
	for _, e := range must.Get(os.ReadDir("."))(t) {
		all = append(all, e.Name())
	}
	return all
}

// A file is written completely or not at all, with the mode of the old one.
func TestToFile(t *testing.T) {
	inFolder(t, "old", "private")
	must.Do(t, os.Chmod("private", 0o640))
	must.Do(t, toFile("", func(io.Writer) error { return errors.New("asked") }))
	for _, name := range []string{"old", "new", "private"} {
		must.Do(t, toFile(name, says("text \x1b")))
		if text := must.Get(os.ReadFile(name))(t); string(text) != `text \u001b` {
			t.Errorf("%s holds %q", name, text)
		}
	}
	must.Do(t, toFileOf(0o600, "secret", says("x")))
	for name, want := range map[string]fs.FileMode{"private": 0o640, "secret": 0o600} {
		if mode := must.Get(os.Stat(name))(t).Mode(); mode != want {
			t.Errorf("%s has the mode %v, want %v", name, mode, want)
		}
	}
	failure := errors.New("half way")
	err := toFile("old", func(w io.Writer) error { io.WriteString(w, "half"); return failure })
	if text := must.Get(os.ReadFile("old"))(t); string(text) != `text \u001b` || !errors.Is(err, failure) || !strings.Contains(err.Error(), "write old: ") {
		t.Errorf("old holds %q, %v", text, err)
	}
	must.Do(t, os.Symlink("old", "link"))
	must.Do(t, toFile("link", says("through")))
	if text := must.Get(os.ReadFile("old"))(t); string(text) != "through" {
		t.Errorf("old holds %q", text)
	}
	if err := toFile(".", says("")); err == nil || !strings.Contains(err.Error(), "it is a folder") {
		t.Error(err)
	}
	if err := toFile("none/x", says("")); err == nil || strings.Contains(err.Error(), ".x.") || !strings.HasPrefix(err.Error(), "write none/x: no such") {
		t.Error(err)
	}
	device, written := pipe(t)
	if err := toFile(device, says("away")); err != nil || written() != "away" {
		t.Errorf("a pipe is not written to: %v", err)
	}
	socket := must.Get(net.Listen("unix", "socket"))(t)
	if err := toFile("socket", says("")); err == nil || strings.Contains(err.Error(), "invalid argument") {
		t.Error(err)
	}
	must.Do(t, socket.Close())
	if got := fmt.Sprint(entries(t)); got != "[link new old private secret]" {
		t.Error(got)
	}
}

// A gradually written file exists at once, for the user only.
func TestCreatePrivate(t *testing.T) {
	inFolder(t, "old")
	was := must.Get(os.Open("old"))(t)
	defer was.Close()
	f := must.Get(createPrivate("old"))(t)
	must.Get(f.WriteString("bits"))(t)
	must.Do(t, f.Close())
	if text := must.Get(os.ReadFile("old"))(t); string(text) != "bits" || must.Get(os.Stat("old"))(t).Mode() != 0o600 {
		t.Errorf("old holds %q", text)
	}
	if text := must.Get(io.ReadAll(was))(t); string(text) != "old" {
		t.Errorf("an open file has %q", text)
	}
	device, written := pipe(t)
	if f := must.Get(createPrivate(device))(t); f.Name() != device || must.Get(f.WriteString("x"))(t) != 1 || f.Close() != nil || written() != "x" {
		t.Error(f.Name())
	}
	if f := must.Get(createPrivate("/dev/stderr"))(t); f != os.Stderr {
		t.Error(f.Name())
	}
	if _, err := createPrivate("none/x"); err == nil {
		t.Error("a file in no folder")
	}
}

// Checking that a file is writable does not change it.
func TestCheckWritable(t *testing.T) {
	inFolder(t, "old")
	device, _ := pipe(t)
	for path, ok := range map[string]bool{"old": true, "new": true, device: true, "/dev/stdout": true, ".": false, "none/x": false} {
		if err := checkWritable(path); (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
	}
	if text := must.Get(os.ReadFile("old"))(t); string(text) != "old" || len(entries(t)) != 1 {
		t.Errorf("old holds %q beside %q", text, entries(t))
	}
}

// New files of killed processes are removed, those of processes that may run are not.
func TestSweepParts(t *testing.T) {
	own := fmt.Sprintf(".x.%d", os.Getpid())
	inFolder(t, ".x.1", ".x.2", ".x.3", own, ".x.text", ".y.1", "7")
	held := must.Get(os.Open(".x.3"))(t)
	defer held.Close()
	must.Do(t, locked.Hold(held))
	past := time.Now().Add(-time.Hour)
	for _, name := range []string{".x.1", ".x.3", ".x.text", ".y.1", "7"} {
		must.Do(t, os.Chtimes(name, past, past))
	}
	sweepParts(".", ".x.")
	if got := fmt.Sprint(entries(t)); got != "[.x.2 .x.3 .x.text .y.1 7]" {
		t.Error(got)
	}
}

// An incomplete file does not replace the old one.
func TestCommitFails(t *testing.T) {
	inFolder(t, "old")
	r := must.Get(newReplacement("old", 0o666))(t)
	must.Do(t, r.file.Close())
	if err := r.commit(); !errors.Is(err, fs.ErrClosed) || len(entries(t)) != 1 {
		t.Errorf("%v, %q", err, entries(t))
	}
}

// Bad results are violations, crashes and notes.
func TestBadOnly(t *testing.T) {
	var bad []string
	for _, r := range badOnly(ofEachStatus) {
		bad = append(bad, strings.TrimPrefix(r.Op, "a::"))
	}
	if got := fmt.Sprint(bad); got != "[violated crashed noted known]" {
		t.Error(got)
	}
}

// A link is followed to its end, also to a missing file.
func TestFollowed(t *testing.T) {
	inFolder(t, "a", "dir/b")
	for link, to := range map[string]string{"one": "a", "two": "one", "lost": "gone", "dir/up": "../gone", "far": "/none/at/all", "round": "round", "linked": "dir"} {
		must.Do(t, os.Symlink(to, link))
	}
	for path, want := range map[string]string{"a": "a", "two": "a", "lost": "gone", "dir/up": "gone", "far": "/none/at/all", "none": "none", "round": "round", "linked/b": "dir/b"} {
		if got := filepath.Clean(followed(path)); got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
}

// Every requested report is written, even if others fail.
func TestOutputs(t *testing.T) {
	inFolder(t)
	r := &report.Report{Ops: []*report.OpResult{{Op: "a::never", Missing: "no kernel"}}}
	for _, tt := range []struct {
		flags string
		want  string // on standard output
		files []string
	}{
		{"", "never ran   a::never: no kernel", nil},
		{"-q", "nothing found in 1 op", nil},
		{"-json", `"a::never"`, nil},
		{"-html p.html -junit j.xml", "never ran", []string{"j.xml", "p.html"}},
	} {
		var out strings.Builder
		inv := newInvocation(command{}, nil, &out, io.Discard)
		o := newOutputs(inv.flags)
		must.Do(t, inv.flags.Parse(strings.Fields(tt.flags)))
		must.Do(t, o.write(inv, r))
		if !strings.Contains(out.String(), tt.want) || fmt.Sprint(entries(t)) != fmt.Sprint(tt.files) {
			t.Errorf("%s: %q, with the files %q", tt.flags, out.String(), entries(t))
		}
	}
}

func TestVersion(t *testing.T) {
	if version() != "(devel)" {
		t.Error(version())
	}
	defer func() { packaged = "" }()
	if packaged = "1.2.3"; version() != "1.2.3" {
		t.Error(version())
	}
}
