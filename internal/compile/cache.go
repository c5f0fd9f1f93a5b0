package compile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// cached returns the file of that name in the cache, and makes it if no folder holds a trusted one. make writes the
// library to a file in a new folder; if a folder of the cache can't be written to, the next is tried.
func cached(name string, make func(work, file string) error) (string, error) {
	for _, dir := range folders() {
		if file := filepath.Join(dir, name); checkFolder(dir) == nil && checkMount(dir) == nil && trusted(file) {
			if age(file) > day { // it is used
				now := time.Now()
				os.Chtimes(file, now, now)
			}
			return file, nil
		}
	}
	return inFolder(func(dir string) (string, error) {
		sweep(dir)
		return store(dir, name, make)
	})
}

// Folder returns the folder of the cache for the next output.
func Folder() (string, error) {
	return inFolder(func(dir string) (string, error) {
		f, err := os.CreateTemp(dir, "tried-")
		if err != nil {
			return "", err
		}
		return dir, errors.Join(f.Close(), os.Remove(f.Name()))
	})
}

// inFolder calls a function with the folders of the cache, until one is not the reason why it fails.
func inFolder(do func(dir string) (string, error)) (string, error) {
	var errs []error
	for _, dir := range folders() {
		err := cmp.Or(makeFolder(dir), checkMount(dir))
		if err == nil {
			var made string
			var denied *os.PathError
			if made, err = do(dir); !errors.As(err, &denied) {
				return made, err
			}
		}
		errs = append(errs, fmt.Errorf("%s: %w", dir, err))
	}
	return "", fmt.Errorf("no folder for the libraries that opassert compiles; "+
		"set $XDG_CACHE_HOME to one that only the user can write to:\n%w", errors.Join(errs...))
}

// persistent is a folder for temporary files that persist.
var persistent = "/var/tmp"

// folders returns the folders that may hold libraries: in the user's cache folder, and in those for temporary files.
func folders() []string {
	own := fmt.Sprintf("opassert-%d", os.Geteuid())
	dirs := []string{filepath.Join(os.TempDir(), own), filepath.Join(persistent, own)}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = slices.Insert(dirs, 0, filepath.Join(cache, "opassert"))
	}
	return dirs
}

// makeFolder makes a folder for the user alone, unless it exists. It makes none in a
// folder of another user, such as that of a user who called sudo.
func makeFolder(dir string) error {
	parent := filepath.Dir(dir)
	if _, err := os.Lstat(parent); os.IsNotExist(err) {
		if err := makeFolder(parent); err != nil {
			return err
		}
	}
	if err := checkParents(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	return checkFolder(dir)
}

// store makes a library in a folder, whole or not at all. Processes that need the same one wait for the first.
func store(dir, name string, make func(work, file string) error) (string, error) {
	file := filepath.Join(dir, name)
	unlock, err := lock(file)
	if err != nil {
		return "", err
	}
	defer unlock()
	if trusted(file) { // another process was first
		return file, nil
	}
	work, err := os.MkdirTemp(dir, name+partMark)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	part := filepath.Join(work, "library.so")
	if err := make(work, part); err != nil {
		return "", err
	}
	if err := seal(part, name); err != nil {
		return "", err
	}
	return file, os.Rename(part, file)
}

const (
	partMark = ".part" // in the names of folders in which libraries are made
	lockMark = ".lock" // the suffix of a library's lock, held while it is made
)

// sealMark precedes the digest at the end of a library, which the dynamic linker does not read.
const sealMark = "opassert sha256 "

func digest(name string, library []byte) []byte {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q", name)
	sum.Write(library)
	return sum.Sum([]byte(sealMark))
}

// seal appends the digest of a library and its final name, and makes the file accessible to the user alone.
func seal(file, name string) error {
	library, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.Chmod(file, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(digest(name, library))
	return errors.Join(err, f.Close())
}

// trusted reports whether a file is a library that the user's opassert wrote, unchanged. No other user can replace it
// before it is loaded: its folder is one of [folders].
func trusted(file string) bool {
	f, err := openOwn(file)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = unsealed(f, filepath.Base(file))
	return err == nil
}

// unsealed returns the library in a file that [seal] wrote under a name.
func unsealed(f io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	at := len(text) - len(sealMark) - sha256.Size
	if at <= 0 || !bytes.Equal(text[at:], digest(name, text[:at])) {
		return nil, fmt.Errorf("%s was changed after it was made", name)
	}
	return text[:at], nil
}
