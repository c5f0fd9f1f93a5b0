//go:build !linux

package compile

import "github.com/opassert/opassert/internal/installed"

// linkFlags are the linker's flags for a library that finds libtorch in a folder.
func (l *CppLibrary) linkFlags(t *installed.Torch, rpath string) []string {
	flags := []string{"-Xlinker", "-rpath", "-Xlinker", rpath}
	return append(append(flags, t.Link()...), l.Link...)
}

// checkMount returns nil: the dynamic linker reports it.
func checkMount(string) error { return nil }
