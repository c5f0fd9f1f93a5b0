package installed

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

const versionHeader = "torch/csrc/api/include/torch/version.h"

var (
	pythonVersion = regexp.MustCompile(`(?m)^__version__\b[^=\n]*=\s*['"]([^'"]+)`)
	headerNumber  = regexp.MustCompile(`(?m)^#define TORCH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)`)
	condaFile     = regexp.MustCompile(`^(?:lib)?(?:py)?torch-(\d[^-]*)-`)
)

// packageVersion returns the version of the package. Files may have another: in
// Debian's 1.13.1, version.h says 1.13.0 and version.py 1.13.0a0.
func (t *Torch) packageVersion(include string) string {
	if text, err := os.ReadFile(filepath.Join(t.Root, "build-version")); err == nil && len(bytes.Fields(text)) == 1 {
		return strings.TrimSpace(string(text))
	}
	if t.debian() {
		if v := debianVersion("/var/lib/dpkg/status"); v != "" {
			return v
		}
	}
	if t.Package == t.Root {
		text, _ := os.ReadFile(filepath.Join(t.Root, "version.py"))
		if m := pythonVersion.FindSubmatch(text); m != nil {
			return string(m[1])
		}
	}
	records, _ := filepath.Glob(filepath.Join(escape.Replace(t.Root), "conda-meta", "*torch-*.json"))
	for _, file := range records {
		if m := condaFile.FindStringSubmatch(filepath.Base(file)); m != nil {
			return m[1]
		}
	}
	for _, header := range []string{"torch/headeronly/version.h", versionHeader} {
		if v := headerVersion(filepath.Join(include, header)); include != "" && v != "" {
			return v
		}
	}
	return "of unknown version"
}

func debianVersion(status string) string {
	text, _ := os.ReadFile(status)
	_, text, found := bytes.Cut(text, []byte("\nPackage: libtorch-dev\n"))
	text, _, _ = bytes.Cut(text, []byte("\n\n"))
	if !found || !bytes.Contains(text, []byte("Status: install ok installed")) {
		return ""
	}
	_, text, _ = bytes.Cut(text, []byte("\nVersion: "))
	text, _, _ = bytes.Cut(text, []byte("\n"))
	return string(text)
}

func headerVersion(path string) string {
	text, _ := os.ReadFile(path)
	parts := slicesx.Map(headerNumber.FindAllStringSubmatch(string(text), 3), func(m []string) string { return m[1] })
	if len(parts) < 3 {
		return ""
	}
	return strings.Join(parts, ".")
}

var guard = regexp.MustCompile(`__cplusplus\s*<\s*20([2-9]\d)`)

// standard returns the C++ standard that ATen.h requires, at least c++17.
func standard(header string) string {
	text, _ := os.ReadFile(header)
	if m := guard.FindSubmatch(text); m != nil {
		return "c++" + string(m[1])
	}
	return "c++17"
}

// soname returns the name by which programs linked with a library load it.
func soname(file string) string {
	if f, err := elf.Open(file); err == nil {
		defer f.Close()
		if names, err := f.DynString(elf.DT_SONAME); err == nil && len(names) > 0 {
			return names[0]
		}
	}
	return filepath.Base(file)
}

// cxx11 reports whether libc10 was built with C++11 strings: a parameter of c10::Error's constructor is one.
func cxx11(libc10 string) (bool, error) {
	if runtime.GOOS != "linux" {
		return true, nil
	}
	f, err := elf.Open(libc10)
	if err != nil {
		return false, fmt.Errorf("%s is not a shared library (%v)", libc10, err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return false, fmt.Errorf("%s: %w", libc10, err)
	}
	old := func(s elf.Symbol) bool { // with a std::string of the old ABI
		return s.Section != elf.SHN_UNDEF && strings.HasPrefix(s.Name, "_ZN3c105ErrorC") && strings.HasSuffix(s.Name, "Ss")
	}
	return !slices.ContainsFunc(symbols, old), nil
}
