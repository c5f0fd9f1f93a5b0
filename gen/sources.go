package gen

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opassert/opassert/allowlist"
)

// sources names what the generated file is made from, in the order of the
// flags. A file is named relative to the root of the module that the package
// is in; one elsewhere that was asked for by an absolute path by its last
// element, so that the name is the same on every machine.
func (o Options) sources() ([]string, error) {
	out, err := filepath.Abs(o.Out)
	if err != nil {
		return nil, err
	}
	root := moduleRoot(out)
	var names []string
	for _, file := range append([]string{o.Schema, o.Tags, o.Kernels}, o.Allow...) {
		switch {
		case file == "":
		case slices.Contains(allowlist.PresetNames(), file):
			names = append(names, file)
		default:
			names = append(names, sourceName(root, file))
		}
	}
	return names, nil
}

func sourceName(root, file string) string {
	abs, err := filepath.Abs(file)
	if err != nil {
		return filepath.Base(file)
	}
	name, err := filepath.Rel(root, abs)
	name = filepath.ToSlash(name)
	if err != nil || filepath.IsAbs(file) && strings.HasPrefix(name, "../") {
		return filepath.Base(file)
	}
	return name
}

// moduleRoot returns the folder of the go.mod that governs dir, or dir itself.
func moduleRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
