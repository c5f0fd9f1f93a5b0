package compile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
)

// cached returns the file of that name in the cache, and makes it if no folder holds
// a trusted one. make writes the library to a file in a new folder; if a folder of
// the cache is full, the next is tried.
func cached(name string, make func(work, file string) error) (string, error) {
	for _, dir := range folders() {
		if file := filepath.Join(dir, name); checkMount(dir) == nil && trusted(file) {
			use(file)
			return file, nil
		}
	}
	for _, dir := range folders() {
		sweep(dir)
	}
	var errs []error
	for dir := range writable() {
		file, err := store(dir, name, make)
		if err == nil {
			return file, nil
		}
		if !isAboutFolder(dir, name, err) {
			return "", err
		}
		errs = append(errs, fmt.Errorf("%s: %w", dir, err))
	}
	return "", noFolder(errs)
}

func noFolder(errs []error) error {
	return fmt.Errorf("no folder for the libraries that opassert compiles; set $XDG_CACHE_HOME to one that only the user can write to:\n%w", errors.Join(errs...))
}

// Folder returns the folder of the cache for the next output.
func Folder() (string, error) {
	var errs []error
	for dir := range writable() {
		err := checkMount(dir)
		if err == nil {
			var f *os.File
			if f, err = os.CreateTemp(dir, "tried-"); err == nil {
				return dir, errors.Join(f.Close(), os.Remove(f.Name()))
			}
		}
		errs = append(errs, err)
	}
	return "", noFolder(errs)
}

// folders returns the folders that may hold libraries.
func folders() []string {
	var dirs []string
	for dir := range namedFolders() {
		dirs = append(append(dirs, dir), others(dir)...)
	}
	return own(dirs)
}

// own returns the folders that only the user and root can write to.
func own(dirs []string) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool { return checkFolder(dir) != nil })
}

// others returns the folders made because another user's has the name.
func others(dir string) []string {
	all, _ := filepath.Glob(dir + "-*")
	return all
}

// persistent is a folder for temporary files that persist.
var persistent = "/var/tmp"

// namedFolders yields the folders with fixed names: in the user's cache folder, and
// in that for temporary files.
func namedFolders() iter.Seq[string] {
	return func(yield func(string) bool) {
		if cache, err := os.UserCacheDir(); err == nil && !yield(filepath.Join(cache, "opassert")) {
			return
		}
		for _, root := range []string{os.TempDir(), persistent} {
			if !yield(filepath.Join(root, fmt.Sprintf("opassert-%d", os.Geteuid()))) {
				return
			}
		}
	}
}

// writable makes and yields folders to write to.
func writable() iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := range namedFolders() {
			if makeFolder(dir) == nil && !yield(dir) {
				return
			}
		}
		for dir := range namedFolders() {
			if checkParents(dir) != nil {
				continue
			}
			there := own(others(dir))
			if len(there) == 0 {
				if other, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+"-"); err == nil {
					there = append(there, other)
				}
			}
			for _, other := range there {
				if !yield(other) {
					return
				}
			}
		}
	}
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

// isAboutFolder reports whether an error is about the folder of a library, and not
// about the library.
func isAboutFolder(dir, name string, err error) bool {
	var denied *os.PathError
	if errors.As(err, &denied) {
		return true
	}
	f, err := os.CreateTemp(dir, name+partMark)
	if err != nil {
		return true
	}
	defer f.Close()
	defer os.Remove(f.Name())
	os.Remove(f.Name()) // unlinked at once where the system lets it: this process may be killed
	piece := make([]byte, 1<<20)
	for range 64 { // MiB, for the compiler's own files
		if _, err := f.Write(piece); err != nil {
			return true
		}
	}
	return false
}

// store makes a library in a folder, whole or not at all. Processes that need the
// same one wait for the first.
func store(dir, name string, make func(work, file string) error) (string, error) {
	if err := checkMount(dir); err != nil {
		return "", err
	}
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

// sealMark precedes the digest at the end of a library, which the dynamic linker does
// not read.
const sealMark = "opassert sha256 "

func digest(name string, library []byte) []byte {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q", name)
	sum.Write(library)
	return sum.Sum([]byte(sealMark))
}

// seal appends the digest of a library and its final name, and makes the file
// accessible to the user alone.
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

// trusted reports whether a file is a library that the user's opassert wrote,
// unchanged. No other user can replace it before it is loaded: its folder is one of
// [folders].
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
