package repro

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/locked"
)

// mark is the first line of every program, by which a later run knows its own.
const mark = "# Written by opassert check -repro."

// A Folder is where programs are written, and run by a Python.
type Folder struct {
	Path   string
	Python string // "" where the engine has none
	// Calls are cases of ops that a program made, of which one may show a finding that has
	// none of its own; nil where a run makes its own.
	Calls map[string][]string
	Source
}

// Clear makes the folder, and removes the programs of an earlier run, also those in
// folders below it. A folder that holds anything else is left as it is.
func (d *Folder) Clear() error {
	entries, err := os.ReadDir(d.Path)
	if os.IsNotExist(err) {
		return os.MkdirAll(d.Path, 0o777)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !ours(filepath.Join(d.Path, e.Name())) {
			return fmt.Errorf("%s holds other files, such as %s: name a folder for the programs alone", d.Path, e.Name())
		}
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(d.Path, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// ours reports whether a file is a program of an earlier run, or a folder of such files.
func ours(path string) bool {
	if entries, err := os.ReadDir(path); err == nil {
		other := func(e os.DirEntry) bool { return !ours(filepath.Join(path, e.Name())) }
		return len(entries) > 0 && !slices.ContainsFunc(entries, other)
	}
	text, err := os.ReadFile(path)
	return err == nil && bytes.HasPrefix(text, []byte(mark))
}

// fault is one of a report, with where its program is noted.
type fault struct {
	Fault
	programs []**report.Program // of it and of those that are the same
}

// Write writes a program for each finding and each crash of a report that counts, one
// for those of a family that show the same, runs it, and notes in the report what
// became of it. Once the context ends no more are run, which is an error.
func (d *Folder) Write(ctx context.Context, r *report.Report, workers int) error {
	all := faults(r)
	scratch, err := locked.NewFolder(os.TempDir(), "opassert-programs-")
	if err != nil {
		return err
	}
	defer scratch.Remove()
	errs := make([]error, len(all))
	queue := make(chan int)
	var running sync.WaitGroup
	for n := range min(workers, len(all)) {
		running.Go(func() {
			by := &runner{ctx: ctx, python: d.Python, printed: filepath.Join(scratch.Path, fmt.Sprint(n))}
			defer by.end()
			for i := range queue {
				var p *report.Program
				p, errs[i] = d.write(all[i].Fault, by)
				for _, noted := range all[i].programs {
					*noted = p
				}
			}
		})
	}
	for i := range all {
		queue <- i
	}
	close(queue)
	running.Wait()
	if ctx.Err() != nil {
		errs = append(errs, errors.New("interrupted before all programs were run"))
	}
	return errors.Join(errs...)
}

// faults returns the findings and crashes that count in a report, equal ones once.
func faults(r *report.Report) []*fault {
	var all []*fault
	known := make(map[string]*fault)
	add := func(key string, f Fault, p **report.Program) {
		one := known[key]
		if one == nil {
			one = &fault{Fault: f}
			known[key] = one
			all = append(all, one)
		}
		one.programs = append(one.programs, p)
	}
	for _, op := range r.Ops {
		family := report.Family(op.Op)
		for _, f := range op.Findings {
			v := f.Violation
			if !f.Counts() && (f.Known || v.Code != asserts.NondeterministicResult) { // a note, which a program can show
				continue
			}
			add(fmt.Sprint(family, v.Code, v.Subject.Return, v.Subject.Name, v.Against.Name), Fault{Op: op, Finding: f}, &f.Program)
		}
		for i := range op.Crashes {
			if c := &op.Crashes[i]; c.Counts() {
				key := fmt.Sprint(family, c.Cause, c.Frames)
				if len(c.Frames) == 0 {
					key = fmt.Sprint(op.Op, c.Case)
				}
				add(key, Fault{Op: op, Crash: c}, &c.Program)
			}
		}
	}
	return all
}

// write writes the plainest program that shows a fault, or the one through
// torch.ops where none does.
func (d *Folder) write(f Fault, by *runner) (*report.Program, error) {
	texts, err := d.texts(f)
	if err != nil {
		return &report.Program{Why: err.Error()}, nil
	}
	p := &report.Program{File: filepath.Join(d.Path, f.Name())}
	if d.Python == "" {
		p.Why = fmt.Sprintf("it was not run: %s has no Python", d.Version)
		return p, d.put(p, throughOps(texts))
	}
	for _, text := range texts {
		if err := d.put(p, text); err != nil {
			return nil, err
		}
		if p.Reproduced, p.Why = by.run(p.File); p.Reproduced {
			return p, nil
		}
	}
	return p, d.put(p, throughOps(texts))
}

// texts returns the programs that may show a fault: where calls were recorded, those of
// each of them, the shortest first.
func (d *Folder) texts(f Fault) (all []string, err error) {
	if d.Calls == nil {
		return d.Texts(f)
	}
	calls := slices.Clone(d.Calls[f.Op.Op])
	if len(calls) == 0 {
		return nil, errors.New("no call of the op was recorded: those of PyTorch's own ops are with -op")
	}
	slices.SortFunc(calls, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for _, call := range calls {
		one := *f.Finding
		if one.Recipe = call; one.Violation.Code == asserts.MetaAlias {
			one.Devices = []engine.Device{engine.CPU, engine.Fake}
		}
		texts, failed := d.Texts(Fault{Op: f.Op, Finding: &one})
		if all = append(all, texts...); err == nil {
			err = failed
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, err
}

// throughOps returns the first of programs that calls the op by its name.
func throughOps(texts []string) string {
	return texts[slices.IndexFunc(texts, func(text string) bool { return strings.Contains(text, "torch.ops.") })]
}

func (d *Folder) put(p *report.Program, text string) error {
	p.Text = mark + "\n" + text
	if err := os.MkdirAll(filepath.Dir(p.File), 0o777); err != nil {
		return err
	}
	return os.WriteFile(p.File, []byte(p.Text), 0o666)
}
