package compile

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/opassert/opassert/internal/locked"
)

const (
	day    = 24 * time.Hour
	unused = 90 * day // after which an unused library is removed: its source has mostly changed
)

// sweep removes the files of killed processes from a folder, and libraries that were not used for long.
func sweep(dir string) {
	parts, _ := filepath.Glob(filepath.Join(dir, "*"+partMark+"*"))
	for _, part := range parts {
		library, _, _ := strings.Cut(part, partMark)
		if locked.Free(library + lockMark) {
			os.RemoveAll(part)
		}
	}
	libraries, _ := filepath.Glob(filepath.Join(dir, "*.so"))
	zips, _ := filepath.Glob(filepath.Join(dir, "*.zip"))
	for _, file := range append(libraries, zips...) {
		if age(file) > unused && locked.Free(file+lockMark) {
			os.Remove(file)
			os.Remove(file + lockMark)
		}
	}
}

// age returns how long ago a file was written or used.
func age(file string) time.Duration {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return time.Since(info.ModTime())
}
