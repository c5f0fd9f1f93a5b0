package compile

import "github.com/opassert/opassert/internal/installed"

// linkFlags are those of the linker. The folder goes into DT_RPATH, since
// LD_LIBRARY_PATH goes before DT_RUNPATH and may name another libtorch.
func (l *Library) linkFlags(t *installed.Torch) []string {
	flags := []string{"-Wl,--no-as-needed", "-Wl,--disable-new-dtags", "-Xlinker", "-rpath", "-Xlinker", t.Lib}
	return append(append(flags, t.Link()...), l.Link...)
}
