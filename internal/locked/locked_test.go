//go:build unix

package locked

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opassert/opassert/internal/dev/must"
)

// child makes a folder, prints its name, and waits to be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("LOCKED"); dir != "" {
		f, err := NewFolder(dir, "folder-")
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(f.Path + "\n")
		time.Sleep(time.Minute)
	}
	os.Exit(m.Run())
}

func make(t *testing.T, dir string) *Folder {
	t.Helper()
	f := must.Get(NewFolder(dir, "folder-"))(t)
	t.Cleanup(func() { f.Remove() })
	return f
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	killed := startAndKill(t, dir)
	other := filepath.Join(dir, "other-1")  // of another program
	fresh := filepath.Join(dir, "folder-1") // whose process has not made the lock yet
	old := filepath.Join(dir, "folder-2")
	for _, folder := range []string{other, fresh, old} {
		must.Do(t, os.MkdirAll(filepath.Join(folder, "in"), 0o700))
	}
	longAgo := time.Now().Add(-25 * time.Hour)
	for _, folder := range []string{other, old} {
		must.Do(t, os.Chtimes(folder, longAgo, longAgo))
	}
	if !isThere(killed) {
		t.Fatal("a killed process left nothing")
	}
	one := make(t, dir)
	two := make(t, dir)
	for path, stays := range map[string]bool{killed: false, other: true, fresh: true, old: false, one.Path: true, two.Path: true} {
		if isThere(path) != stays {
			t.Errorf("%s exists: %v, want %v", path, !stays, stays)
		}
	}
	if err := one.Remove(); err != nil || isThere(one.Path) {
		t.Errorf("it is not removed: %v", err)
	}
	if _, err := NewFolder(filepath.Join(dir, "absent"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want %v", err, os.ErrNotExist)
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if Free(path) {
		t.Error("a missing file is free")
	}
	f := must.Get(Open(path, os.O_CREATE))(t)
	if _, err := Open(path, 0); !errors.Is(err, ErrHeld) || Free(path) {
		t.Errorf("held: %v, want %v", err, ErrHeld)
	}
	f.Close()
	if !Free(path) {
		t.Error("a closed file is held")
	}
}

// startAndKill returns the folder of a killed process.
func startAndKill(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOCKED="+dir)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	return strings.TrimSpace(line)
}
