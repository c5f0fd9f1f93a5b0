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
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/locked"
)

// mark ends the first line of every program, by which a later run recognizes it.
const mark = " Written by opassert -repro."

// A ProgramFolder is where programs are written and run.
type ProgramFolder struct {
	Path   string
	Python string // "" if the engine has none
	// Calls are recorded cases of a program's ops, for findings that have none; nil for a run that makes its own.
	Calls map[string][]string
	Source

	once     sync.Once
	included []string // flags for C++, once its headers are precompiled
}

// Clear makes the folder, and removes an earlier run's programs, in subfolders too. One with other files is left alone.
func (d *ProgramFolder) Clear() error {
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
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return err == nil && (string(line) == "#"+mark || string(line) == "//"+mark)
}

// recordedProblem is a fault of a report, and where its program is recorded.
type recordedProblem struct {
	Problem
	programs []**report.ReproProgram // of it and of equal ones
}

// Write writes a program for each finding and each crash of a report that counts, one for equal ones in a family, runs
// it, and records its outcome in the report. After the end of the context no more are run, which is an error.
func (d *ProgramFolder) Write(ctx context.Context, r *report.Report, workers int) error {
	all := problems(r)
	d.once = sync.Once{}
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
			by := &programRunner{ctx: ctx, python: d.Python, printed: filepath.Join(scratch.Path, fmt.Sprint(n))}
			defer by.end()
			for i := range queue {
				var p *report.ReproProgram
				p, errs[i] = d.write(all[i].Problem, by)
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

// problems returns the findings and crashes that count in a report, equal ones once.
func problems(r *report.Report) []*recordedProblem {
	var all []*recordedProblem
	known, count := make(map[string]*recordedProblem), make(map[string]int)
	add := func(key string, f Problem, p **report.ReproProgram) {
		one := known[key]
		if one == nil {
			count[f.Name()]++
			f.turn = count[f.Name()]
			one = &recordedProblem{Problem: f}
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
			add(fmt.Sprint(family, v.Code, v.Subject.Return, v.Subject.Name, v.Against.Name),
				Problem{Op: op, Finding: f}, &f.Program)
		}
		for i := range op.Crashes {
			if c := &op.Crashes[i]; c.Counts() {
				key := fmt.Sprint(family, c.Cause, c.Frames)
				if len(c.Frames) == 0 {
					key = fmt.Sprint(op.Op, c.Case)
				}
				add(key, Problem{Op: op, Crash: c}, &c.Program)
			}
		}
	}
	return all
}

type language struct {
	extension, comment string
	texts              func(Problem) ([]string, error) // the simplest first
	usual              func(texts []string) string     // the program to keep if none shows the fault
	run                func(by *programRunner, file string) (shown bool, why string)
	tries              int // number of smaller programs to run with try
	try                func(by *programRunner, file string) (shown bool, why string)
	lacks              string // why programs can't be run, or ""
}

// languages returns the languages in which the ops can be called, the most general first.
func (d *ProgramFolder) languages() []language {
	if d.Go != nil {
		return []language{{".go", "//", d.goTexts, first, d.runGo, 4, d.runGo, ""}}
	}
	python := language{".py", "#", d.Texts, throughOps, (*programRunner).run, 16, (*programRunner).try, ""}
	cpp := language{".cpp", "//", d.cppTexts, first, d.runCpp, 3, d.runCpp, ""}
	switch {
	case d.Python != "" && d.Build != nil:
		return []language{python, cpp}
	case d.Build != nil && len(d.Modules) == 0:
		return []language{cpp}
	case d.Python == "":
		python.lacks = fmt.Sprintf("it was not run: %s has no Python", d.Version)
	}
	return []language{python}
}

func first(texts []string) string { return texts[0] }

// write writes a program that shows a fault, in the first language with one, or else a program in the first language.
func (d *ProgramFolder) write(f Problem, by *programRunner) (*report.ReproProgram, error) {
	var best *report.ReproProgram
	for i, l := range d.languages() {
		if i > 0 && f.Crash != nil {
			break // a crash is the same in each language
		}
		p, err := d.writeIn(l, f, by)
		if err != nil || best == nil || p.Reproduced {
			best, p = p, best
		}
		if p != nil && p.File != "" { // that of another language
			err = errors.Join(err, os.Remove(p.File))
		}
		if err != nil || best.Reproduced {
			return best, err
		}
	}
	return best, nil
}

// writeIn writes the simplest program that shows a fault, or the usual one if none does.
func (d *ProgramFolder) writeIn(l language, f Problem, by *programRunner) (*report.ReproProgram, error) {
	calls, err := d.calls(f)
	if err != nil {
		return &report.ReproProgram{Why: err.Error()}, nil
	}
	p := &report.ReproProgram{File: filepath.Join(d.Path, f.Name()+l.extension)}
	var usual string
	var unwritten error
	for _, call := range calls {
		texts, err := l.texts(call)
		if err != nil {
			unwritten = cmp.Or(unwritten, err)
			continue
		}
		usual = cmp.Or(usual, l.usual(texts))
		for i, text := range texts {
			if l.lacks != "" {
				break
			}
			if err := l.put(p, text); err != nil {
				return nil, err
			}
			if p.Reproduced, p.Why = l.run(by, p.File); p.Reproduced {
				return p, l.shrink(call, i, p, by)
			}
		}
	}
	if usual == "" {
		return &report.ReproProgram{Why: unwritten.Error()}, nil
	}
	p.Why = cmp.Or(l.lacks, p.Why)
	return p, l.put(p, usual)
}

// calls returns a fault with the calls that may show it: each of a program's that were recorded, the shortest first.
func (d *ProgramFolder) calls(f Problem) (all []Problem, err error) {
	if d.Calls == nil {
		return []Problem{f}, nil
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
		all = append(all, Problem{f.Op, &one, nil, f.turn})
	}
	return all, nil
}

// throughOps returns the first of the programs that calls the op by its name; a method has none.
func throughOps(texts []string) string {
	return texts[max(0, slices.IndexFunc(texts, func(text string) bool { return strings.Contains(text, "torch.ops.") }))]
}

func (l language) put(p *report.ReproProgram, text string) error {
	p.Text = l.comment + mark + "\n" + text
	return save(p)
}

func save(p *report.ReproProgram) error {
	if err := os.MkdirAll(filepath.Dir(p.File), 0o777); err != nil {
		return err
	}
	return os.WriteFile(p.File, []byte(p.Text), 0o666)
}

func (d *ProgramFolder) precompile(by *programRunner, folder string) []string {
	file := filepath.Join(folder, "headers.h")
	if err := os.WriteFile(file, []byte(headers), 0o666); err != nil {
		return nil
	}
	if _, err := by.command(folder, d.Build(file, file+".gch")...); err != nil {
		return nil
	}
	return []string{"-include", file}
}

func (d *ProgramFolder) runCpp(by *programRunner, file string) (shown bool, why string) {
	path, err := filepath.Abs(file)
	if err != nil {
		return false, err.Error()
	}
	folder, binary := filepath.Dir(by.printed), by.printed+".exe"
	d.once.Do(func() { d.included = d.precompile(by, folder) })
	return by.built(folder, append(d.Build(path, binary), d.included...), binary)
}

// runGo builds a program in the module of its kernel, first without the tag: making tensors may require it.
func (d *ProgramFolder) runGo(by *programRunner, file string) (shown bool, why string) {
	path, err := filepath.Abs(file)
	if err != nil {
		return false, err.Error()
	}
	for _, tags := range [][]string{nil, {"-tags", "opassert"}} {
		binary := by.printed + ".exe"
		build := slices.Concat([]string{"go", "build", "-buildvcs=false", "-o", binary}, tags, []string{path})
		shown, why = by.built(d.Go.Root, build, binary)
		if shown || !strings.HasPrefix(why, unbuilt) {
			break
		}
	}
	return shown, why
}
