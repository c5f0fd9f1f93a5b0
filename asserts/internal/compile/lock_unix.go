//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package compile

import (
	"os"
	"syscall"
)

// lock waits until no other process holds the file's lock. A lock ends with
// its process.
func lock(file string) (unlock func() error, err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
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

// owned reports whether a folder is there and is the user's alone.
func owned(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
