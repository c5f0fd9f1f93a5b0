package cli

import (
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

// digests returns digests of what decides the results, for the report. Shards run on several machines:
// no path, time or variable is in them.
func (c *checkup) digests() (map[string]string, error) {
	f := c.flags
	var own, kernels, lists, flags, ops inputs
	if own.add(version()); version() == "(devel)" || strings.HasSuffix(version(), "+dirty") { // that of many sources
		own.addContents(math.MaxInt64, itself())
	}
	if *f.schema != "" {
		kernels.addContents(math.MaxInt64, *f.schema, filepath.Join(filepath.Dir(*f.schema), "tags.yaml"))
	}
	kernels.addContents(math.MaxInt64, f.files...)
	for _, module := range f.pythonModules() {
		kernels.addContents(math.MaxInt64, moduleFiles(f.host.Source(module))...)
	}
	for _, p := range c.programs {
		if p.listed != nil {
			kernels.addContents(startOfFile, slices.DeleteFunc(slices.Clone(p.listed.Files), ofMachine)...)
		}
		if p.suite == nil {
			continue
		}
		sources, err := f.module.sources(p) // since the binary has their paths
		if err != nil {
			return nil, err
		}
		kernels.addContents(math.MaxInt64, sources...)
		if info, err := buildinfo.ReadFile(p.binary); err == nil {
			kernels.add(info.GoVersion)
		}
	}
	lists.addContents(math.MaxInt64, f.allow...)
	flags.add(*f.engine, *f.only, *f.timeout, *f.autograd, f.watchesMemory(), *f.tolerance, f.pythonModules(), *f.version)
	flags.addContents(math.MaxInt64, *f.casesFile)
	ops.add(f.ops)
	return map[string]string{
		"kernels": kernels.digest(), "opassert": own.digest(), "allowlists": lists.digest(), "flags": flags.digest(), "ops": ops.digest(),
	}, nil
}

var (
	code     = regexp.MustCompile(`\.py$|\.so(\.|$)`)
	machines = regexp.MustCompile(`^/(usr/)?lib(32|64)?/|/libpython3[^/]*$|/python3\.\d+/([^/-]+/|[^/]+$|lib-dynload/)|` +
		`/opassert(-\d+)?/[^/]+\.so$`)
)

// ofMachine reports whether a loaded file is no code, or belongs to the system, the standard library of a Python, or
// was compiled by opassert: each machine may have its own.
func ofMachine(file string) bool { return !code.MatchString(file) || machines.MatchString(file) }
