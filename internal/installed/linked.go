package installed

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LinkedTo returns the folder of the libtorch that the loader would load with a library, or "".
func LinkedTo(library string) string { return linkedTo(library, nil, make(map[string]bool)) }

// linkedTo searches in the order of ld.so(8). The library was reached through others, whose DT_RPATHs apply to it too.
func linkedTo(library string, above []string, seen map[string]bool) string {
	names, dirs, above := needs(library, above)
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		file := firstWith(dirs, name)
		if file != "" && isTorch(name) {
			return filepath.Dir(file)
		}
		if dir := linkedTo(file, above, seen); dir != "" {
			return dir
		}
	}
	return ""
}

// Takes returns an error for a library of ops that would load parts of another
// libtorch: functions of the two call each other, and crash the process.
func (t *Torch) Takes(library string) error {
	names, dirs, _ := needs(library, nil)
	for _, name := range names {
		for _, part := range t.link {
			if stem(name) == stem(part) && name != filepath.Base(part) && !sameFile(firstWith(dirs, name), part) {
				return fmt.Errorf("it was built for %s and needs %s, which is not of %v: "+
					"choose with -libtorch, or build it again", BuiltFor(library, t.Version), name, t)
			}
		}
	}
	return nil
}

// BuiltFor describes the PyTorch that a library was linked to, which may have been updated since.
func BuiltFor(library, version string) string {
	if dir := LinkedTo(library); dir != "" {
		if t, err := Inspect(dir); err == nil && t.Version != version {
			return t.String()
		}
	}
	return "another PyTorch"
}

// stem returns the name of a shared library without its versions.
func stem(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".so")
	return name
}

// needs returns the names of the libraries that one needs, the folders to search, and the DT_RPATHs that apply to them.
func needs(path string, above []string) (names, dirs, rpaths []string) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, nil, nil
	}
	defer f.Close()
	names, _ = f.DynString(elf.DT_NEEDED)
	rpath, runpath := folders(f, elf.DT_RPATH, path), folders(f, elf.DT_RUNPATH, path)
	if len(runpath) > 0 {
		rpath = nil
	}
	rpaths = slices.Concat(rpath, above)
	dirs = slices.Concat(rpaths, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")), runpath, systemFolders())
	return names, dirs, rpaths
}

func isTorch(name string) bool {
	parts := []string{"libtorch_cpu", "libc10", "libtorch"}
	return slices.Contains(parts, stem(name)) && strings.HasPrefix(name+".", stem(name)+".so.")
}

func folders(f *elf.File, tag elf.DynTag, path string) []string {
	var dirs []string
	values, _ := f.DynString(tag)
	for _, value := range values {
		for _, dir := range filepath.SplitList(value) {
			origin := filepath.Dir(path)
			dirs = append(dirs, strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(dir))
		}
	}
	return dirs
}

func systemFolders() []string {
	more, _ := filepath.Glob("/usr/lib/*-linux-gnu")
	return append(more, "/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib")
}

// firstWith returns the first file of a name; a name with a slash is a path.
func firstWith(dirs []string, name string) string {
	if strings.Contains(name, "/") {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		if file := filepath.Join(dir, name); exists(file) {
			return file
		}
	}
	return ""
}
