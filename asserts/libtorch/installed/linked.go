package installed

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
)

// LinkedTo returns the folder of the libtorch that the loader would load with a
// library, or "" where the library names none or has no way to it.
func LinkedTo(library string) string {
	w := walk{seen: make(map[string]bool)}
	return w.into(library, nil)
}

// A walk looks through the libraries that one needs, as ld.so(8) does.
type walk struct{ seen map[string]bool }

// into looks into one that was reached through others, whose DT_RPATHs
// count for it too.
func (w *walk) into(path string, above []string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	needed, _ := f.DynString(elf.DT_NEEDED)
	rpath, runpath := folders(f, elf.DT_RPATH, path), folders(f, elf.DT_RUNPATH, path)
	if len(runpath) > 0 {
		rpath = nil
	}
	above = append(rpath, above...)
	dirs := append(append([]string(nil), above...), filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))...)
	dirs = append(append(dirs, runpath...), systemFolders()...)
	var inner []string
	for _, name := range needed {
		file := firstWith(dirs, name)
		if file == "" {
			continue
		}
		if isTorch(name) {
			return filepath.Dir(file)
		}
		inner = append(inner, file)
	}
	for _, file := range inner {
		if w.seen[file] {
			continue
		}
		w.seen[file] = true
		if dir := w.into(file, above); dir != "" {
			return dir
		}
	}
	return ""
}

func isTorch(name string) bool {
	for _, stem := range []string{"libtorch_cpu.so", "libc10.so", "libtorch.so"} {
		if name == stem || strings.HasPrefix(name, stem+".") {
			return true
		}
	}
	return false
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
	dirs := []string{"/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}
	more, _ := filepath.Glob("/usr/lib/*-linux-gnu")
	return append(more, dirs...)
}

// firstWith returns the first file of a name; one with a slash is a path.
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
