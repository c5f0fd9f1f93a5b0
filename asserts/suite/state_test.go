package suite

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/dev/must"
)

func openState(t *testing.T, path, key string) *ResultStore {
	t.Helper()
	return must.Get(OpenState(path, key))(t)
}

func closeState(t *testing.T, s *ResultStore) {
	t.Helper()
	must.Do(t, s.Close())
}

func TestStateGoesOnWhereItStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	s := openState(t, path, "a")
	if s.Other {
		t.Error("a new file is another run's")
	}
	s.Keep(&report.OpResult{Op: "aten::a", Ran: 7})
	s.Keep(&report.OpResult{Op: "aten::failed", Fault: "a panic"})
	s.Keep(&report.OpResult{Op: "aten::b"})
	closeState(t, s)
	// A truncated line does not count.
	text, _ := os.ReadFile(path)
	must.Do(t, os.WriteFile(path, text[:len(text)-3], 0o666))
	// A run that is stopped before it did anything keeps the state of the previous one.
	closeState(t, openState(t, path, "a"))
	s = openState(t, path, "a")
	if len(s.Known) != 1 || s.Known["aten::a"].Ran != 7 {
		t.Errorf("known: %v", s.Known)
	}
	s.Keep(s.Known["aten::a"])
	s.Keep(&report.OpResult{Op: "aten::c"})
	closeState(t, s)
	s = openState(t, path, "a")
	if len(s.Known) != 2 || s.Other {
		t.Errorf("known: %v", s.Known)
	}
	if text := must.Get(os.ReadFile(path))(t); bytes.Count(text, []byte("aten::a")) != 1 {
		t.Errorf("a known result is kept again: %s", text)
	}
	closeState(t, s)
	// Another run does not use it, and a finished run removes it.
	if s = openState(t, path, "b"); len(s.Known) != 0 || !s.Other {
		t.Errorf("another run knows %v", s.Known)
	}
	must.Do(t, s.Finish())
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the state is still there: %v", err)
	}
}

// A file that is not a state is never written.
func TestOtherFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"notes.txt": "important\n", "empty": "", "almost": stateMark[:5], "json": `{"opassert check state 3 ": 1}`,
	} {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
		if _, err := OpenState(path, "a"); !errors.Is(err, ErrNotState) {
			t.Errorf("%s: error %v", name, err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%s holds %q now, %v", name, now, err)
		}
	}
	if _, err := OpenState(dir, "a"); !errors.Is(err, ErrNotState) {
		t.Errorf("a folder: error %v", err)
	}
	link := filepath.Join(dir, "link")
	must.Do(t, os.Symlink("notes.txt", link))
	if _, err := OpenState(link, "a"); !errors.Is(err, ErrNotState) {
		t.Errorf("link: error %v", err)
	}
}

func TestStateIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	s := openState(t, path, "a")
	s.Keep(&report.OpResult{Op: "aten::a"})
	if _, err := OpenState(path, "a"); !errors.Is(err, ErrStateInUse) {
		t.Errorf("a second run: error %v", err)
	}
	closeState(t, s)
	if s = openState(t, path, "a"); len(s.Known) != 1 {
		t.Errorf("known: %v", s.Known)
	}
	closeState(t, s)
}

// A state is read up to its last complete line.
func TestStateIsReadAsFarAsItIsWhole(t *testing.T) {
	const a, b = `{"result":{"op":"aten::a"}}` + "\n", `{"result":{"op":"aten::b"}}` + "\n"
	head := stateMark + stateVersion + "key\n"
	for text, want := range map[string]int{
		head + a + b: 2, head + a + "garbled\n" + b: 1, head + a + "{}\n" + b: 1, head + a + strings.Replace(b, `"op"`, `"ran":"x","op"`, 1): 1, head + a + strings.TrimSuffix(b, "\n"): 1, head: 0, strings.TrimSuffix(head, "\n"): -1,
	} {
		path := filepath.Join(t.TempDir(), "state")
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
		s := openState(t, path, "key")
		if len(s.Known) != max(want, 0) || s.Other != (want < 0) {
			t.Errorf("%q: known %v, of another run: %v", text, s.Known, s.Other)
		}
		closeState(t, s)
	}
}

// A pipe is not read.
func TestStateIsNoPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", path).Run(); err != nil {
		t.Skip(err)
	}
	pipe := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer pipe.Close()
	must.Get(pipe.WriteString(stateMark + "\n"))(t)
	if _, err := OpenState(path, "a"); !errors.Is(err, ErrNotState) {
		t.Error(err)
	}
}

// A file that can't be opened, or written, is an error of its own.
func TestStateThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o666))
	for _, path := range []string{filepath.Join(file, "state"), filepath.Join(dir, "none", "state")} {
		if _, err := OpenState(path, "a"); err == nil || errors.Is(err, ErrNotState) || errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", path, err)
		}
	}
	s := openState(t, filepath.Join(dir, "state"), "a")
	must.Do(t, s.file.Close())
	s.Keep(&report.OpResult{Op: "aten::a"})
	if err := s.Err(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("of a result that was not written: %v", err)
	}
}

// A state contains values of arguments: other users may not read it.
func TestStateIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode here")
	}
	path := filepath.Join(t.TempDir(), "state")
	s := must.Get(OpenState(path, "a"))(t)
	defer s.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
