package allowlist

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

//go:embed presets/*.yaml
var presets embed.FS

// Preset returns a list shipped with opassert:
//
//	opassert      behavior that no schema can declare, such as set_ replacing its storage,
//	              also that of devices, such as _copy_from of those that packages bring
//	run           behavior of PyTorch's own ops in programs, which PyTorch intends
//	pytorch-1.13  the ops that PyTorch 1.13's codegen exempts
//	pytorch-2.6   the same for 2.6
//
// Source: tools/autograd/gen_variable_type.py, the DONT_ENFORCE sets, which do not name devices.
func Preset(name string) (*List, error) {
	src, err := presets.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no allowlist preset %q; there are %s", name, strings.Join(PresetNames(), ", "))
	}
	return Parse("preset "+name, src, nil)
}

// PresetNames returns the names that Preset takes, sorted.
func PresetNames() []string {
	files, _ := presets.ReadDir("presets")
	names := slicesx.Map(files, func(f fs.DirEntry) string { return strings.TrimSuffix(f.Name(), ".yaml") })
	slices.Sort(names)
	return names
}
