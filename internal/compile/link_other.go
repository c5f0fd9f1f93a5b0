//go:build !linux

package compile

import "github.com/opassert/opassert/internal/installed"

// linkFlags are those of the linker.
func (l *Library) linkFlags(t *installed.Torch) []string {
	flags := []string{"-Xlinker", "-rpath", "-Xlinker", t.Lib}
	return append(append(flags, t.Link()...), l.Link...)
}
