//go:build linux

package compile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opassert/opassert/internal/locked"
)

// stranger is a user other than root and, most likely, the one who runs the test.
const stranger = 54321

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func chown(t *testing.T, name string, uid int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	do(t, os.Lchown(name, uid, uid))
}

// A file that another user could have written is not loaded: it is compiled again in
// a folder where that user cannot write.
func TestNotTrusted(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(t *testing.T, cache, file string)
		moves bool // to another folder
	}{
		{"file of another user", func(t *testing.T, cache, file string) { chown(t, file, stranger) }, false},
		{"file that all can write", func(t *testing.T, cache, file string) { do(t, os.Chmod(file, 0o777)) }, false},
		{"file that the group can write", func(t *testing.T, cache, file string) { do(t, os.Chmod(file, 0o770)) }, false},
		{"link to a file", func(t *testing.T, cache, file string) {
			do(t, os.Rename(file, filepath.Join(cache, "elsewhere")))
			do(t, os.Symlink(filepath.Join(cache, "elsewhere"), file))
		}, false},
		{"named pipe in its place", func(t *testing.T, cache, file string) {
			do(t, os.Remove(file))
			do(t, mkfifo(file))
		}, false},
		{"library of another name", func(t *testing.T, cache, file string) {
			text, err := os.ReadFile(file)
			do(t, err)
			do(t, seal(file, "other.so"))
			do(t, os.WriteFile(file, append(text[:len(text)-len(digest("", nil))], digest("other.so", text[:len(text)-len(digest("", nil))])...), 0o700))
		}, false},
		{"zeros in the middle", func(t *testing.T, cache, file string) {
			text, err := os.ReadFile(file)
			do(t, err)
			clear(text[len(text)/4 : len(text)/2])
			do(t, os.WriteFile(file, text, 0o700))
		}, false},
		{"one bit", func(t *testing.T, cache, file string) {
			text, err := os.ReadFile(file)
			do(t, err)
			text[len(text)/3] ^= 4
			do(t, os.WriteFile(file, text, 0o700))
		}, false},
		{"last byte cut off", func(t *testing.T, cache, file string) {
			info, err := os.Stat(file)
			do(t, err)
			do(t, os.Truncate(file, info.Size()-1))
		}, false},
		{"empty file", func(t *testing.T, cache, file string) { do(t, os.Truncate(file, 0)) }, false},
		{"folder of another user", func(t *testing.T, cache, file string) { chown(t, filepath.Join(cache, "opassert"), stranger) }, true},
		{"folder that all can write", func(t *testing.T, cache, file string) { do(t, os.Chmod(filepath.Join(cache, "opassert"), 0o777)) }, true},
		{"parent of another user", func(t *testing.T, cache, file string) { chown(t, cache, stranger) }, true},
		{"parent that all can write", func(t *testing.T, cache, file string) { do(t, os.Chmod(cache, 0o777)) }, true},
		{"link of another user on the way", func(t *testing.T, cache, file string) {
			do(t, os.Rename(cache, cache+".real"))
			do(t, os.Symlink(cache+".real", cache))
			chown(t, cache, stranger)
		}, true},
		{"link into a folder that all can write", func(t *testing.T, cache, file string) {
			open := filepath.Join(filepath.Dir(cache), "open")
			do(t, os.Mkdir(open, 0o700))
			do(t, os.Rename(cache, filepath.Join(open, "cache")))
			do(t, os.Symlink("open/cache", cache))
			do(t, os.Chmod(open, 0o777))
		}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, torch, compiled := setUp(t)
			cache := filepath.Join(dir, "cache")
			first := path(t, library(unit), torch)
			test.spoil(t, cache, first)
			again := path(t, library(unit), torch)
			if compiled() != 2 {
				t.Errorf("it is loaded: compiled %d times", compiled())
			}
			if moved := filepath.Dir(again) != filepath.Dir(first); moved != test.moves {
				t.Errorf("it moved from %s to %s", first, again)
			}
			if path(t, library(unit), torch) != again || compiled() != 2 {
				t.Errorf("the recompiled library is not found: compiled %d times", compiled())
			}
		})
	}
}

// A library of the user is trusted, also through links.
func TestTrusted(t *testing.T) {
	dir, torch, compiled := setUp(t)
	cache := filepath.Join(dir, "cache")
	first := path(t, library(unit), torch)
	do(t, os.Rename(cache, cache+".real"))
	do(t, os.Symlink("cache.real", cache))
	if path(t, library(unit), torch) != first || compiled() != 1 {
		t.Errorf("a link to the user's own folder is refused")
	}
	do(t, os.Chmod(filepath.Join(cache, "opassert"), 0o755))
	do(t, os.Chmod(cache+".real", 0o777|os.ModeSticky)) // as /tmp is
	if path(t, library(unit), torch) != first || compiled() != 1 {
		t.Errorf("a folder that others can read, in one like /tmp, is refused")
	}
}

// If a lock is another user's, or a folder is full, the library is stored in another
// folder.
func TestElsewhere(t *testing.T) {
	dir, torch, compiled := setUp(t)
	file := path(t, library(unit), torch)
	do(t, os.Remove(file))
	do(t, os.Remove(file+".lock"))
	do(t, os.Mkdir(file+".lock", 0o700))
	if again := path(t, library(unit), torch); filepath.Dir(again) == filepath.Dir(file) || compiled() != 2 {
		t.Errorf("with a lock that cannot be opened it is %s", again)
	}
	link := filepath.Join(dir, "target")
	write(t, link, "untouched")
	do(t, os.Remove(file+".lock"))
	do(t, os.Symlink(link, file+".lock"))
	path(t, library(unit+"int more;"), torch)
	if text, _ := os.ReadFile(link); !bytes.Equal(text, []byte("untouched")) {
		t.Errorf("a lock that is a link leads to %q", text)
	}
}

// mounted returns the folder of the cache, as a disk of its own.
func mounted(t *testing.T, dir string, flags uintptr, data string) string {
	t.Helper()
	cache := filepath.Join(dir, "cache")
	do(t, os.Mkdir(cache, 0o700))
	err := syscall.Mount("none", cache, "tmpfs", flags, data)
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root may mount a disk")
	}
	do(t, err)
	t.Cleanup(func() { syscall.Unmount(cache, syscall.MNT_DETACH) })
	return cache
}

// If nothing can be loaded from the cache, the library is made in another folder;
// without one the error says why.
func TestNoexec(t *testing.T) {
	dir, torch, compiled := setUp(t)
	cache := mounted(t, dir, 0, "mode=700")
	temporary := filepath.Join(dir, fmt.Sprintf("opassert-%d", os.Geteuid()))
	if file := path(t, library(unit), torch); filepath.Dir(filepath.Dir(file)) != cache {
		t.Errorf("it is %s", file)
	}
	do(t, syscall.Mount("none", cache, "tmpfs", syscall.MS_REMOUNT|syscall.MS_NOEXEC, ""))
	if file := path(t, library(unit), torch); filepath.Dir(file) != temporary || compiled() != 2 {
		t.Errorf("it is %s, compiled %d times", file, compiled())
	}
	if folder, err := Folder(); folder != temporary {
		t.Errorf("the next is made in %s, %v", folder, err)
	}
	t.Setenv("TMPDIR", cache)
	old := persistent
	persistent = cache
	t.Cleanup(func() { persistent = old })
	if _, err := library(unit + "int more;").Path(torch); err == nil || !strings.Contains(err.Error(), cache+"/opassert: mounted noexec") {
		t.Errorf("with no other folder: %v", err)
	}
	if _, err := Folder(); err == nil || !strings.Contains(err.Error(), "mounted noexec") {
		t.Errorf("with no other folder: %v", err)
	}
}

// Making a library removes the partial files of killed processes, and libraries that
// were not used for long.
func TestSwept(t *testing.T) {
	_, torch, compiled := setUp(t)
	used := path(t, library(unit), torch)
	longAgo := time.Now().Add(-unused - day)
	do(t, os.Chtimes(used, longAgo, longAgo))
	path(t, library(unit), torch)
	cache := filepath.Dir(used)
	old, held := filepath.Join(cache, "old.so"), filepath.Join(cache, "held.so")
	young, other := filepath.Join(cache, "young.so"), filepath.Join(cache, "notes")
	for _, file := range []string{old, held, young, other} {
		write(t, file, "library")
		write(t, file+lockMark, "")
		write(t, file+partMark+"123/unit.cpp", "half")
		do(t, os.Chtimes(file, longAgo, longAgo))
	}
	do(t, os.Chtimes(young, time.Now(), time.Now()))
	lock, err := locked.Open(held+lockMark, 0)
	do(t, err)
	defer lock.Close()
	path(t, library(unit+"int more;"), torch)
	for file, stays := range map[string]bool{
		used: true, old: false, held: true, young: true, other: true, old + lockMark: false, young + lockMark: true,
		old + partMark + "123": false, held + partMark + "123": true, young + partMark + "123": false,
	} {
		if _, err := os.Stat(file); (err == nil) != stays {
			t.Errorf("%s: %v, stays %v", file, err, stays)
		}
	}
	if compiled() != 2 {
		t.Errorf("compiled %d times", compiled())
	}
}

func mkfifo(name string) error { return syscall.Mkfifo(name, 0o700) }
