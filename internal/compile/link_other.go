//go:build !linux

package compile

import "github.com/opassert/opassert/internal/installed"

// linkFlags are those of the linker, for a library that looks for libtorch in a
// folder.
func (l *Library) linkFlags(t *installed.Torch, rpath string) []string {
	flags := []string{"-Xlinker", "-rpath", "-Xlinker", rpath}
	return append(append(flags, t.Link()...), l.Link...)
}

// checkMount returns no error: where it matters, the dynamic linker says it.
func checkMount(string) error { return nil }
