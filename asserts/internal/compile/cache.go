package compile

import (
	"fmt"
	"os"
	"path/filepath"
)

// cacheFolders returns where libraries may be: in the user's cache folder, or
// where that cannot be written, as for a user without a home, in a folder of
// the user's own among the temporary files.
func cacheFolders() []string {
	var dirs []string
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "opassert"))
	}
	if private := temporary(); owned(private) {
		dirs = append(dirs, private)
	}
	return dirs
}

func temporary() string { return filepath.Join(os.TempDir(), fmt.Sprintf("opassert-%d", os.Getuid())) }

// writableFolder returns the first of those folders that can be written, or
// makes the second, or else one for this process alone.
func writableFolder() (string, error) {
	for _, dir := range cacheFolders() {
		os.MkdirAll(dir, 0o700)
		if f, err := os.CreateTemp(dir, "write"); err == nil {
			f.Close()
			return dir, os.Remove(f.Name())
		}
	}
	if dir := temporary(); os.Mkdir(dir, 0o700) == nil {
		return dir, nil
	}
	dir, err := os.MkdirTemp("", "opassert")
	if err != nil {
		return "", fmt.Errorf("no folder for what opassert compiles; set $XDG_CACHE_HOME to one that can be written: %w", err)
	}
	return dir, nil
}
