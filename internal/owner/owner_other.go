//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package owner

import "io/fs"

// On other systems the files that the user can read are trusted.

func Trusted(fs.FileInfo) bool { return true }
