package cli

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/report"
)

// outputs are the flags that say what a report is written to.
type outputs struct {
	json, quiet                          *bool
	junit, sarif, html, table, unreached *string
	text                                 func(*report.Report, io.Writer) error // of a report on standard output
}

func newOutputs(f *flag.FlagSet) *outputs {
	return &outputs{
		json:      newJSONFlag(f, "array"),
		quiet:     f.Bool("q", false, "print findings and crashes alone, and errors"),
		junit:     f.String("junit", "", "write the results as JUnit XML to a `file`"),
		sarif:     f.String("sarif", "", "write the findings as a SARIF log to a `file`"),
		html:      f.String("html", "", "write one self-contained HTML page to a `file`"),
		table:     f.String("table", "", "write the findings as a Markdown table to a `file`"),
		unreached: f.String("unreached", "", "write the ops that never ran, each with its reason, to a `file`"),
		text:      (*report.Report).WriteText,
	}
}

// check reports, before there is anything to lose, that a file can't be
// written.
func (o *outputs) check() error {
	var errs []error
	for _, path := range []string{*o.junit, *o.sarif, *o.html, *o.table, *o.unreached} {
		if path != "" {
			errs = append(errs, checkWritable(path))
		}
	}
	return errors.Join(errs...)
}

// checkWritable reports why a file can't be written, and leaves it as it is.
func checkWritable(path string) error {
	if special(path) {
		return nil
	}
	t, err := newReplacement(path)
	if err != nil {
		return err
	}
	return t.discard()
}

// write writes every report that is asked for, the others too where one fails.
func (o *outputs) write(inv *invocation, r *report.Report) error {
	results := r.Results()
	print := func(w io.Writer) error { return o.text(r, w) }
	switch {
	case *o.json:
		print = r.WriteJSON
	case *o.quiet:
		print = r.WriteFindings
	}
	sarif := func(w io.Writer) error { return asserts.WriteSARIF(w, version(), "", badOnly(results)) }
	return errors.Join(
		toFile(*o.junit, func(w io.Writer) error { return asserts.WriteJUnit(w, results) }),
		toFile(*o.sarif, sarif),
		toFile(*o.html, r.WriteHTML),
		toFile(*o.table, r.WriteTable),
		toFile(*o.unreached, r.WriteUnreached),
		buffered(inv.stdout, print),
	)
}

// writeComparison writes what differs between several runs.
func (o *outputs) writeComparison(inv *invocation, c *report.Comparison) error {
	print := c.WriteText
	if *o.json {
		print = c.WriteJSON
	}
	return errors.Join(toFile(*o.html, c.WriteHTML), buffered(inv.stdout, print))
}

// buffered writes in large pieces.
func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<16)
	return errors.Join(write(b), b.Flush())
}

// badOnly leaves out what a list of problems has no place for.
func badOnly(results []asserts.Result) []asserts.Result {
	return slices.DeleteFunc(slices.Clone(results), func(r asserts.Result) bool {
		return r.Status != asserts.Violated && r.Status != asserts.Noted && r.Status != asserts.Crashed && r.Status != asserts.Known
	})
}

// version is the command's own.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// toFile writes a file, if one is asked for: all of it, or nothing. A device
// or a pipe is written as it is.
func toFile(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	if special(path) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(inFile(path, buffered(f, write)), f.Close())
	}
	t, err := newReplacement(path)
	if err != nil {
		return err
	}
	if err := buffered(t.file, write); err != nil {
		return errors.Join(inFile(path, err), t.discard())
	}
	return t.commit()
}

// inFile puts a file's name before an error of writing it.
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

// special reports whether a path is something other than a regular file.
func special(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// A replacement is a new file that takes the place of an old one when it is
// whole.
type replacement struct {
	path string
	file *os.File
}

func newReplacement(path string) (*replacement, error) {
	target := followed(path)
	mode := os.FileMode(0o666)
	if info, err := os.Stat(target); err == nil {
		if info.IsDir() {
			return nil, fmt.Errorf("write %s: it is a folder", path)
		}
		mode = info.Mode().Perm()
	}
	name := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%d", filepath.Base(target), os.Getpid()))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return nil, inFile(path, err)
	}
	return &replacement{target, f}, nil
}

// followed is what a path leads to, where that is there and where it is not.
func followed(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	if target, err := os.Readlink(path); err == nil {
		if filepath.IsAbs(target) {
			return target
		}
		return filepath.Join(filepath.Dir(path), target)
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
