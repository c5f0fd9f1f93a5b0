package repro

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/attach"
	"github.com/opassert/opassert/internal/printable"
)

// mark is the first line of every program, by which a later run knows its own.
const mark = "# Written by opassert check -repro."

// A Folder is where programs are written, and run by a Python.
type Folder struct {
	Path   string
	Python string // "" where the engine has none
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
// became of it.
func (d *Folder) Write(r *report.Report, workers int) error {
	all := faults(r)
	errs := make([]error, len(all))
	var running sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i, f := range all {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			var p *report.Program
			p, errs[i] = d.write(f.Fault)
			for _, noted := range f.programs {
				*noted = p
			}
		})
	}
	running.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
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
			if !f.Counts() {
				continue
			}
			v := f.Violation
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
func (d *Folder) write(f Fault) (*report.Program, error) {
	texts, err := d.Texts(f)
	if err != nil {
		return &report.Program{Why: err.Error()}, nil
	}
	p := &report.Program{File: filepath.Join(d.Path, f.Name())}
	if d.Python == "" {
		p.Why = fmt.Sprintf("it was not run: %s has no Python", d.Version)
		return p, d.put(p.File, throughOps(texts))
	}
	for _, text := range texts {
		if err := d.put(p.File, text); err != nil {
			return nil, err
		}
		if p.Reproduced, p.Why = d.run(p.File); p.Reproduced {
			return p, nil
		}
	}
	return p, d.put(p.File, throughOps(texts))
}

// throughOps returns the first of programs that calls the op by its name.
func throughOps(texts []string) string {
	return texts[slices.IndexFunc(texts, func(text string) bool { return strings.Contains(text, "torch.ops.") })]
}

func (d *Folder) put(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(mark+"\n"+text), 0o666)
}

// longest is how long a program may take: torch alone takes seconds to import.
const longest = 3 * time.Minute

// run runs a program, and reports whether the fault is there, or what kept it.
func (d *Folder) run(file string) (shown bool, why string) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.Python, file)
	cmd.WaitDelay = time.Second
	defer attach.Command(cmd)()
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := printable.Text(lines[len(lines)-1])
	switch status := cmd.ProcessState.ExitCode(); {
	case status == 1 && strings.HasPrefix(last, there):
		return true, ""
	case ctx.Err() != nil:
		return false, fmt.Sprintf("it takes longer than %v", longest)
	case last == "" && err != nil:
		return false, err.Error()
	default:
		return false, last
	}
}
