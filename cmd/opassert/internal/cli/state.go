package cli

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// A stateFlag names a file that is read and updated; its errors are reported later.
type stateFlag struct{ outputFlag }

func newStateFlag(f *flag.FlagSet, usage string) *string {
	s := new(stateFlag)
	f.Var(s, "state", usage)
	return (*string)(&s.outputFlag)
}

func (*stateFlag) check() error { return nil }

// A runState is the state of a run, if it has one: an error with it is a warning, and
// does not prevent the report.
type runState struct {
	file *suite.ResultStore
}

// openState opens the state of the run. A file that is not a state is an error;
// any other failure is a warning.
func (c *checkup) openState(inv *invocation) (*runState, error) {
	key := c.key()
	path := *c.flags.state
	warn := func(err error) (*runState, error) {
		fmt.Fprintf(inv.stderr, "opassert check: warning: this run can't be continued if it is interrupted: %v\n", err)
		return new(runState), nil
	}
	if path == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return warn(err)
		}
		path = filepath.Join(cache, "opassert", "check-"+key+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return warn(err)
		}
	}
	file, err := suite.OpenState(path, key+" "+c.engine)
	switch {
	case errors.Is(err, suite.ErrNotState):
		return nil, err
	case err != nil:
		return warn(err)
	case file.Other:
		fmt.Fprintf(inv.stderr, "opassert check: %s belongs to another run; starting over\n", path)
	}
	if *c.flags.rerun {
		clear(file.Known)
	}
	c.printKnown(inv, file)
	return &runState{file}, nil
}

// printKnown prints the number of ops with stored results.
func (c *checkup) printKnown(inv *invocation, file *suite.ResultStore) {
	known := len(slices.DeleteFunc(slices.Clone(c.operators), func(o engine.Operator) bool { return file.Known[o.Name()] == nil }))
	if known > 0 {
		fmt.Fprintf(inv.stderr, "opassert check: continuing from %s: %d ops are done\n", file.Path, known)
	}
}

func (s *runState) keep(r *report.OpResult) {
	if s.file != nil {
		s.file.Keep(r)
	}
}

// close ends the state of a completed run, and keeps that of another.
func (s *runState) close(inv *invocation, through bool) {
	if s.file == nil {
		return
	}
	end := s.file.Close
	if through {
		end = s.file.Finish
	}
	if err := end(); err != nil {
		fmt.Fprintf(inv.stderr, "opassert check: warning: %v\n", err)
	}
}

// goesOn returns the message with the file from which an interrupted run continues.
func (s *runState) goesOn() string {
	if s.file == nil || s.file.Err() != nil {
		return ""
	}
	return fmt.Sprintf("; results are stored in %s, and the same command continues from there", s.file.Path)
}

// key returns the digest of everything that decides the results of the run's cases: what was built
// and loaded, this command, and the flags.
func (c *checkup) key() string {
	f := c.flags
	var in inputs
	in.add(*f.engine, *f.level, *f.seed, *f.number, *f.only, *f.timeout, c.engine, *f.autograd, f.guard, *f.tolerance, f.module.root,
		f.libs, f.pythonModules(), f.ops, *f.version, c.shard)
	if len(f.allow) > 0 {
		in.add(time.Now().Format(time.DateOnly)) // entries expire
	}
	if *f.schema != "" {
		in.addContents(math.MaxInt64, *f.schema, filepath.Join(filepath.Dir(*f.schema), "tags.yaml"))
	}
	in.addContents(math.MaxInt64, itself(), *f.casesFile)
	in.addContents(math.MaxInt64, f.allow...)
	in.addContents(startOfFile, f.files...)
	if f.found != nil {
		in.stamp(f.found.Link()...)
	}
	for _, module := range f.pythonModules() { // whose files are read, too, and not only those that it imports at first
		in.addContents(startOfFile, moduleFiles(f.host.Source(module))...)
	}
	for _, p := range c.programs {
		in.addContents(math.MaxInt64, p.binary)
		if p.listed != nil {
			in.stamp(p.listed.Files...)
		}
	}
	in.addEnvironment()
	return in.digest()
}
