package checkup

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// inputs are what decides the results of a run.
type inputs []any

func (in *inputs) add(values ...any) { *in = append(*in, values...) }

// addContents adds files by their names, sizes and what they begin with, wherever they lie and in any order.
func (in *inputs) addContents(most int64, paths ...string) {
	var all []string
	for _, path := range paths {
		h := sha256.New()
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			fmt.Fprintln(h, info.Size())
			if f, err := os.Open(path); err == nil {
				io.Copy(h, io.LimitReader(f, most))
				f.Close()
			}
		}
		all = append(all, fmt.Sprintf("%s %x", filepath.Base(path), h.Sum(nil)))
	}
	slices.Sort(all)
	in.add(all)
}

func (in *inputs) stamp(paths ...string) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			in.add(path, info.Size(), info.ModTime().UnixNano())
		}
	}
}

// addEnvironment adds the variables that kernels may read, without those of the shell and the terminal that a command
// is started from.
func (in *inputs) addEnvironment() {
	ofShell := []string{"_", "SHLVL", "PWD", "OLDPWD", "TERM", "COLUMNS", "LINES"}
	for _, variable := range slices.Sorted(slices.Values(os.Environ())) {
		if name, _, _ := strings.Cut(variable, "="); !slices.Contains(ofShell, name) {
			in.add(variable)
		}
	}
}

// digest returns the digest of the inputs, which depends on their order.
func (in *inputs) digest() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%#v", *in)) // %q has one character for all large numbers
	return fmt.Sprintf("%x", h[:8])
}

// moduleFiles returns the files of a Python module, or of the package of that name.
func moduleFiles(source string) (files []string) {
	root := source
	if filepath.Base(source) == "__init__.py" {
		root = filepath.Dir(source)
	}
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, ".pyc") {
			files = append(files, path)
		}
		return nil
	})
	return files
}

// startOfFile is how much of a loaded file counts: those of a libtorch have gigabytes, and the number of their build at
// the start.
const startOfFile = 16 << 20

var (
	code     = regexp.MustCompile(`\.py$|\.so(\.|$)`)
	machines = regexp.MustCompile(`^/(usr/)?lib(32|64)?/|/libpython3[^/]*$|/python3\.\d+/([^/-]+/|[^/]+$|lib-dynload/)|` +
		`/opassert(-\d+)?/[^/]+\.so$`)
)

// ofMachine reports whether a loaded file is no code, or belongs to the system, the standard library of a Python, or
// was compiled by opassert: each machine may have its own.
func ofMachine(file string) bool { return !code.MatchString(file) || machines.MatchString(file) }

// mostBeside is how many files and folders codeBeside looks at.
const mostBeside = 10_000

// codeBeside returns the code in the folder that a module is imported from, and whether that is all; for an
// installed one, none.
func codeBeside(source string) (files []string, all bool) {
	root := filepath.Dir(source)
	if filepath.Base(source) == "__init__.py" {
		root = filepath.Dir(root)
	}
	if source == "" || strings.HasSuffix(root, "-packages") {
		return nil, source != ""
	}
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch seen++; {
		case err != nil || seen > mostBeside:
			return fs.ErrInvalid
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return filepath.SkipDir
		case !d.IsDir() && code.MatchString(d.Name()):
			files = append(files, path)
		}
		return nil
	})
	return files, err == nil
}
