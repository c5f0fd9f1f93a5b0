package cli

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/locked"
	"github.com/opassert/opassert/internal/printable"
)

// outputs are the flags for the files and formats of a report.
type outputs struct {
	json, quiet, verbose *bool
	formats              formatFlags
	html                 *string
	explain              func(*report.Report, io.Writer) error // instead of a report on standard output
}

func newOutputs(f *flag.FlagSet) *outputs {
	return &outputs{
		json:    newJSONFlag(f),
		quiet:   f.Bool("q", false, ""),
		verbose: f.Bool("v", false, ""),
		formats: newFormatFlags(f),
		html:    newOutputFlag(f, "html"),
	}
}

// checkWritable returns an error if a file can't be written, without changing it.
func checkWritable(path string) error {
	if special(path) {
		return nil
	}
	t, err := newReplacement(path, 0o666)
	if err != nil {
		return err
	}
	return t.discard()
}

// write writes every requested report, the others also if one fails.
func (o *outputs) write(inv *invocation, r *report.Report) error {
	print := func(w io.Writer) error { return r.WriteText(w, o.form()) }
	switch {
	case *o.json:
		print = r.WriteJSON
	case o.explain != nil:
		print = func(w io.Writer) error { return o.explain(r, w) }
	}
	return errors.Join(
		o.formats.write(r.Results()),
		toFile(*o.html, r.WriteHTML),
		inv.coloured(print),
	)
}

func (o *outputs) form() report.Form {
	switch {
	case *o.quiet:
		return report.Quiet
	case *o.verbose:
		return report.Verbose
	}
	return report.Brief
}

// buffered writes in large pieces, with foreign text escaped.
func buffered(w io.Writer, write func(io.Writer) error) error {
	p := printable.NewWriter(w)
	b := bufio.NewWriterSize(p, 1<<16)
	return errors.Join(write(b), b.Flush(), p.Flush())
}

// badOnly keeps the results that are problems.
func badOnly(results []asserts.Result) []asserts.Result {
	return slices.DeleteFunc(slices.Clone(results), func(r asserts.Result) bool {
		return !slices.Contains([]asserts.Status{asserts.Violated, asserts.Noted, asserts.Crashed, asserts.Known}, r.Status)
	})
}

// packaged is the version of the wheel with the command, set by the linker.
var packaged string

// version is the command's own.
func version() string {
	info, _ := debug.ReadBuildInfo()
	return cmp.Or(packaged, cmp.Or(info, new(debug.BuildInfo)).Main.Version, "(devel)")
}

// toFile writes a file, if its flag is set, completely or not at all. A device, a
// pipe or a stream is written directly. Foreign text is escaped.
func toFile(path string, write func(io.Writer) error) error { return toFileOf(0o666, path, write) }

// createPrivate creates a file that is written gradually. It replaces an old one, which others may read or have open.
func createPrivate(path string) (*os.File, error) {
	if stream := ownStream(path); stream != nil {
		return stream, nil
	}
	if special(path) {
		return os.OpenFile(path, os.O_WRONLY, 0)
	}
	t, err := newReplacement(path, 0o600)
	if err != nil {
		return nil, err
	}
	return t.file, os.Rename(t.file.Name(), t.path)
}

func toFileOf(mode os.FileMode, path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	if stream := ownStream(path); stream != nil { //mutate:equivalent false: it is opened again
		return inFile(path, buffered(stream, write))
	}
	if special(path) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(inFile(path, buffered(f, write)), f.Close())
	}
	t, err := newReplacement(path, mode)
	if err != nil {
		return err
	}
	if err := buffered(t.file, write); err != nil {
		return errors.Join(inFile(path, err), t.discard())
	}
	return t.commit()
}

// inFile adds a file's name to an error of writing it.
func inFile(path string, err error) error {
	if err == nil {
		return nil
	}
	var p *os.PathError
	if errors.As(err, &p) { // which names a temporary file
		err = p.Err
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// special reports whether a path is something other than a regular file of the user.
func special(path string) bool {
	info, err := os.Stat(path)
	return ownStream(path) != nil || //mutate:equivalent false: the output of a test is no file
		err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// A replacement is a new file that replaces an old one when it is complete.
type replacement struct {
	path string
	file *os.File
}

// newReplacement makes the new file with a mode, or those bits of it that the old one has.
func newReplacement(path string, mode os.FileMode) (*replacement, error) {
	target := followed(path)
	if info, err := os.Stat(target); err == nil {
		if info.IsDir() {
			return nil, fmt.Errorf("write %s: it is a folder", path)
		}
		mode &= info.Mode().Perm()
	}
	dir, prefix := filepath.Dir(target), "."+filepath.Base(target)+"."
	sweepParts(dir, prefix)
	f, err := os.OpenFile(filepath.Join(dir, prefix+strconv.Itoa(os.Getpid())), os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return nil, inFile(path, err)
	}
	locked.Hold(f) // if the file system can; a file without a lock is removed once it is old
	return &replacement{target, f}, nil
}

// sweepParts removes new files of killed processes. One with this process's number is
// of an ended process; a recent one may not be locked yet.
func sweepParts(dir, prefix string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		number, is := strings.CutPrefix(e.Name(), prefix)
		pid, err := strconv.Atoi(number)
		info, there := e.Info()
		if !is || err != nil ||
			there != nil || //mutate:equivalent false: nothing else removes it
			pid != os.Getpid() && time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if part := filepath.Join(dir, e.Name()); locked.Free(part) {
			os.Remove(part)
		}
	}
}

// followed returns the target of a path, which need not exist, through at most as many links as the system follows.
func followed(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	for range 40 {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

// resolved returns the path of a file or folder, which need not exist, without links.
func resolved(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = followed(absolute)
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

func (r *replacement) discard() error { return errors.Join(r.file.Close(), os.Remove(r.file.Name())) }

func (r *replacement) commit() error {
	if err := r.file.Close(); err != nil {
		return errors.Join(inFile(r.path, err), os.Remove(r.file.Name()))
	}
	return os.Rename(r.file.Name(), r.path)
}
