//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Package owner returns whose files are.
package owner

import (
	"io/fs"
	"os"
	"syscall"
)

// Of returns the number of a file's user, -1 if it is unknown.
func Of(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

// Trusted reports whether a file is the user's or root's.
func Trusted(info fs.FileInfo) bool { return Of(info) == 0 || Of(info) == os.Geteuid() }
