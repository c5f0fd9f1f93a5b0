package installed

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A PythonMeta has the places where PyTorch's Python registers meta functions, by op:
// "aten::take.out", or "aten::take" for every overload.
type PythonMeta map[string]string

var (
	registering = regexp.MustCompile(`(?m)^@register_(?:meta|decomposition)\(([^@]*?)\)\n`)
	registered  = regexp.MustCompile(`\baten\.(\w+)(?:\.(\w+))?`)
)

// PythonMeta reads the meta functions that the Python package registers besides the
// C++ kernels; a libtorch without one has none.
//
// Source: torch/_meta_registrations.py, activate_meta.
func (t *Torch) PythonMeta() PythonMeta {
	found := make(PythonMeta)
	if t.Package == "" {
		return found
	}
	for _, file := range []string{"_refs/nn/functional/__init__.py", "_refs/__init__.py", "_decomp/decompositions.py", "_meta_registrations.py"} {
		text, err := os.ReadFile(filepath.Join(t.Package, file))
		if err != nil {
			continue
		}
		for _, at := range registering.FindAllSubmatchIndex(text, -1) {
			line := 1 + strings.Count(string(text[:at[0]]), "\n")
			for _, op := range registered.FindAllStringSubmatch(string(text[at[2]:at[3]]), -1) {
				name := "aten::" + op[1]
				if op[2] != "" {
					name += "." + op[2]
				}
				found[name] = fmt.Sprintf("torch/%s:%d", file, line)
			}
		}
	}
	return found
}

// Of returns the place where a meta function of an op is registered, "" for none.
func (m PythonMeta) Of(op string) string {
	base, overload, overloaded := strings.Cut(op, ".")
	if !overloaded {
		overload = "default"
	}
	if at := m[base+"."+overload]; at != "" {
		return at
	}
	return m[base]
}
