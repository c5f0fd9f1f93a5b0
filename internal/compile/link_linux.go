package compile

import (
	"errors"
	"os"
	"syscall"

	"github.com/opassert/opassert/internal/installed"
)

// linkFlags are the linker's flags for a library that finds libtorch in a folder. The folder goes into DT_RPATH:
// LD_LIBRARY_PATH precedes DT_RUNPATH, and may name another libtorch.
func (l *CppLibrary) linkFlags(t *installed.Torch, rpath string) []string {
	flags := []string{"-Wl,--no-as-needed", "-Wl,--disable-new-dtags", "-Xlinker", "-rpath", "-Xlinker", rpath}
	return append(append(flags, t.Link()...), l.Link...)
}

const noexec = 0x8 // ST_NOEXEC of <sys/statvfs.h>

// checkMount returns an error if the dynamic linker loads nothing from a folder, such as a /tmp mounted noexec.
func checkMount(dir string) error {
	var mount syscall.Statfs_t
	if err := syscall.Statfs(dir, &mount); err == nil && mount.Flags&noexec != 0 {
		return &os.PathError{Op: "load", Path: dir, Err: errors.New("mounted noexec")}
	}
	return nil
}
