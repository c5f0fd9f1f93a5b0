package cli

import (
	"cmp"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

// An outputFlag names a file that the command writes, or a folder.
type outputFlag string

func newOutputFlag(f *flag.FlagSet, name string) *string {
	path := new(string)
	f.Var((*outputFlag)(path), name, "")
	return path
}

func (o *outputFlag) String() string     { return string(*o) }
func (o *outputFlag) Set(s string) error { *o = outputFlag(s); return nil }
func (o *outputFlag) writes() bool       { return true }
func (o *outputFlag) check() error       { return checkWritable(string(*o)) }

// A fileOutput is the value of a flag that may name an output file, or a folder which the command creates.
type fileOutput interface {
	writes() bool
	check() error // called before the run
}

// A use is a file that a command reads or writes.
type use struct {
	by     string // "-html", "argument run.log", "standard output"
	path   string
	writes bool
	stream bool // it is open already
	theirs bool // used by the program that the command runs
	file   fs.FileInfo
	folder fs.FileInfo // of a missing file
}

// at resolves the path, through links, to a file.
func (u use) at() use {
	if u.file, _ = os.Stat(u.path); u.file == nil {
		u.path = filepath.Clean(followed(u.path)) // the path that will be written
		u.file, _ = os.Stat(u.path)
		u.folder, _ = os.Stat(filepath.Dir(u.path))
	}
	return u
}

// regular reports whether the use is of a file, and not of a device, a pipe or the path of a standard stream.
func (u use) regular() bool {
	return u.file == nil || u.file.Mode().IsRegular() && ownStream(u.path) == nil
}

func (u use) same(v use) bool {
	return os.SameFile(u.file, v.file) || os.SameFile(u.folder, v.folder) && filepath.Base(u.path) == filepath.Base(v.path)
}

// clash returns an error if one of two uses would replace the file of the other.
func (u use) clash(v use) error {
	switch {
	case !u.writes && !v.writes, u.stream && v.stream, u.theirs && v.theirs, !u.regular(), !v.regular(), !u.same(v):
		return nil
	case u.writes && v.writes:
		return usagef("%s and %s would write the same file, %s", u.by, v.by, cmp.Or(u.path, v.path))
	case v.writes:
		u, v = v, u
	}
	return usagef("%s would replace %s, which %s reads", u.by, cmp.Or(v.path, u.path), v.by)
}

// claim records the files that the command uses, and rejects an output that would replace an input or another output.
func (inv *invocation) claim(uses ...use) error {
	var errs []error
	for _, u := range uses {
		if !u.stream {
			u = u.at()
		}
		for _, other := range inv.uses {
			errs = append(errs, other.clash(u))
		}
		inv.uses = append(inv.uses, u)
	}
	return errors.Join(errs...)
}

// claimFiles claims the files of the command line: those of flags, which are read unless they are outputs, and
// arguments. It reports outputs that can't be written before the run.
func (inv *invocation) claimFiles(args []string) error {
	if isWorker() {
		return nil
	}
	self, _ := os.Executable()
	uses := append(inv.streams(), use{by: "the command", path: self})
	var outputs []fileOutput
	inv.flags.Visit(func(f *flag.Flag) {
		out, _ := f.Value.(fileOutput)
		writes := out != nil && out.writes()
		if kind, _ := flag.UnquoteUsage(f); f.Value.String() == "" || kind != "file" && kind != "library" {
			return
		}
		paths := []string{f.Value.String()}
		if several, ok := f.Value.(*repeated); ok {
			paths = *several
		}
		if f.Name == "schema" {
			paths = append(paths, filepath.Join(filepath.Dir(paths[0]), "tags.yaml"))
		}
		for _, path := range paths {
			if writes || isFile(path) {
				uses = append(uses, use{by: "-" + f.Name, path: path, writes: writes})
			}
		}
		if writes {
			outputs = append(outputs, out)
		}
	})
	for _, arg := range args {
		for _, path := range filesOf(arg) {
			uses = append(uses, use{by: "argument " + arg, path: path, theirs: inv.program})
		}
	}
	if err := inv.claim(uses...); err != nil {
		return err
	}
	errs := slicesx.Map(outputs, fileOutput.check)
	return errors.Join(errs...)
}

func (inv *invocation) streams() []use {
	var uses []use
	for _, s := range []struct {
		use
		stream any
	}{
		{use{by: "standard input"}, os.Stdin},
		{use{by: "standard output", writes: true}, inv.own.stdout},
		{use{by: "standard error", writes: true}, inv.own.stderr},
	} {
		file, _ := s.stream.(*os.File) // or nil, which is not a file
		if info, err := file.Stat(); err == nil {
			uses = append(uses, use{by: s.by, writes: s.writes, stream: true, theirs: inv.program, file: info})
		}
	}
	return uses
}

// filesOf returns the files that an argument names: FILE, FILE::test, --name=FILE,
// and the file of a folder that Python runs.
func filesOf(arg string) []string {
	test, _, _ := strings.Cut(arg, "::")
	_, value, _ := strings.Cut(arg, "=")
	paths := slices.Compact([]string{arg, test, value, filepath.Join(arg, "__main__.py")})
	return slices.DeleteFunc(paths, func(path string) bool { return !isFile(path) })
}

// claimRead claims the paths that are files, as inputs.
func (inv *invocation) claimRead(by string, paths ...string) error {
	var uses []use
	for _, path := range paths {
		if isFile(path) {
			uses = append(uses, use{by: by, path: path})
		}
	}
	return inv.claim(uses...)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// ownStream returns the standard stream that a path names, or nil.
func ownStream(path string) *os.File {
	switch filepath.Clean(path) {
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return os.Stdout
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return os.Stderr
	}
	return nil
}
