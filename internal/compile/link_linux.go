package compile

import "github.com/opassert/opassert/internal/installed"

// linkFlags are those of the linker, for a library that looks for libtorch in a
// folder. That goes into DT_RPATH, since
// LD_LIBRARY_PATH goes before DT_RUNPATH and may name another libtorch.
func (l *Library) linkFlags(t *installed.Torch, rpath string) []string {
	flags := []string{"-Wl,--no-as-needed", "-Wl,--disable-new-dtags", "-Xlinker", "-rpath", "-Xlinker", rpath}
	return append(append(flags, t.Link()...), l.Link...)
}
