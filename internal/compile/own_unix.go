//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package compile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/opassert/opassert/internal/owner"
)

// lock waits until no other process makes a file. A lock ends when its process does.
func lock(file string) (unlock func() error, err error) {
	f, err := os.OpenFile(file+lockMark, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			break
		}
	}
	if err != nil && err != syscall.ENOTSUP && err != syscall.ENOLCK {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: file, Err: err}
	}
	return f.Close, nil
}

const byOthers = 0o022 // write permissions of others than the owner

// checkFolder returns an error if a folder is not the user's, or if another user could write to it or replace it.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || owner.Of(info) != os.Geteuid() || info.Mode()&byOthers != 0 {
		return fmt.Errorf("%s is not a folder that only the user can write to", dir)
	}
	return checkParents(dir)
}

// checkParents returns an error if a user other than root could replace a file, or a folder or link on its path.
func checkParents(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	return checkPath("/", strings.Split(strings.Trim(filepath.Dir(path), "/"), "/"), 40)
}

// checkPath checks the folders on a path, through as many links as the system follows.
func checkPath(dir string, names []string, links int) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !owner.Trusted(info) && dir != "/": // whose owner may be unknown in a container
		return fmt.Errorf("%s belongs to another user", dir)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(dir)
		if err != nil || links == 0 {
			return fmt.Errorf("%s leads nowhere", dir)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(dir), target)
		}
		return checkPath("/", append(strings.Split(strings.Trim(target, "/"), "/"), names...), links-1)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case info.Mode()&byOthers != 0 && info.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("other users can write to %s", dir)
	case len(names) == 0:
		return nil
	}
	return checkPath(filepath.Join(dir, names[0]), names[1:], links)
}

// openOwn opens a regular file of the user that others cannot write to.
func openOwn(file string) (*os.File, error) {
	own := func(info fs.FileInfo) bool { return owner.Of(info) == os.Geteuid() && info.Mode()&byOthers == 0 }
	return openTrusted(file, own)
}

// openBeside opens a file that came with the command: each user who can write to it can write to the command.
func openBeside(command, file string) (*os.File, error) {
	own, err := os.Stat(command)
	if err != nil {
		return nil, err
	}
	if err := checkParents(file); err != nil && checkParents(command) == nil {
		return nil, err
	}
	folder, err := os.Lstat(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	return openTrusted(file, func(info fs.FileInfo) bool { return asProtected(info, own) && asProtected(folder, own) })
}

// openTrusted opens a regular file for which trusted returns true.
func openTrusted(file string, trusted func(fs.FileInfo) bool) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || !trusted(info)) {
		err = fmt.Errorf("other users can write to %s", file)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// asProtected reports whether all users who can write to a file can write to another one.
func asProtected(info, than fs.FileInfo) bool {
	mine := owner.Trusted(info) || owner.Of(info) == owner.Of(than)
	return mine && info.Mode()&byOthers&^than.Mode() == 0
}
