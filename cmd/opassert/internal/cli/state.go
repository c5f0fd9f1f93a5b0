package cli

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/cmd/opassert/internal/inputs"
	"github.com/opassert/opassert/schema"
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
	inputs, err := c.inputs()
	if err != nil {
		return warn(err)
	}
	file, err := suite.OpenState(path, key+" "+c.engine, inputs)
	switch {
	case errors.Is(err, suite.ErrNotState):
		return nil, err
	case err != nil:
		return warn(err)
	case file.Other:
		fmt.Fprintf(inv.stderr, "opassert check: %s held the state of another run; it is started from the beginning\n", path)
	}
	if *c.flags.rerun {
		clear(file.Known)
	}
	c.printKnown(inv, file, inputs != nil)
	return &runState{file}, nil
}

// printKnown prints the number of ops with stored results.
func (c *checkup) printKnown(inv *invocation, file *suite.ResultStore, stored bool) {
	known := len(slices.DeleteFunc(slices.Clone(c.operators), func(o engine.Operator) bool { return file.Known[o.Name()] == nil }))
	switch {
	case known == 0:
	case stored:
		fmt.Fprintf(inv.stderr, "opassert check: %d of %d ops are unchanged since they ran; -a runs them too\n", known, len(c.operators))
	default:
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

// key returns a digest of everything that decides the results of the run's cases,
// except for the digests that inputs returns for each op.
func (c *checkup) key() string {
	f := c.flags
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", []any{*f.engine, *f.level, *f.seed, *f.cases, *f.only, *f.timeout, c.engine, *f.through, *f.memory, *f.tolerance, f.module.root})
	if f.module.root == "" {
		c.sign(h)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// sign adds the flags and files that decide the results of all ops of a library.
func (c *checkup) sign(h hash.Hash) {
	f := c.flags
	fmt.Fprintf(h, "%q\n", []any{f.libs, f.pythonModules(), f.ops, *f.preset, *f.version, c.shard})
	if f.found != nil {
		for _, file := range f.found.Link() {
			stamp(h, file)
		}
	}
	f.stampModules(h)
	tags := *f.tags
	if tags == "" && *f.schema != "" {
		tags = filepath.Join(filepath.Dir(*f.schema), "tags.yaml")
	}
	for _, file := range slices.Concat([]string{itself(), *f.schema, *f.base, tags, *f.casesFrom}, f.files, f.allow) {
		fmt.Fprintf(h, "%s %x\n", file, sum(file))
	}
	if len(f.allow) > 0 {
		fmt.Fprintln(h, time.Now().Format(time.DateOnly)) // entries expire
	}
}

// inputs returns a function that digests everything that decides an op's result, if
// that is known: for Go kernels.
func (c *checkup) inputs() (func(op string) string, error) {
	if c.flags.module.root == "" {
		return nil, nil
	}
	digests := make(map[string]string)
	command, cases := sum(itself()), sum(*c.flags.casesFrom)
	for _, p := range c.programs {
		program, err := inputs.Load(c.flags.module.root, *p.suite, c.flags.module.built)
		if err != nil {
			return nil, err
		}
		views := p.views()
		for _, o := range p.operators {
			digest := program.Digest(append(views, own(o))...)
			if digest == "" {
				continue
			}
			waived, _ := json.Marshal([]any{p.job.Waived[o.Name()], p.job.Notes[o.Name()]}) // plain values
			h := fmt.Appendf(nil, "%s %x %s", digest, command, waived)
			if c.own != nil && c.own.For(o.Schema) {
				h = append(h, cases...)
			}
			digests[o.Name()] = fmt.Sprintf("%x", sha256.Sum256(h))
		}
	}
	return func(op string) string { return digests[op] }, nil
}

// views are the ops that may make arguments of others.
func (p *kernelProgram) views() (names []string) {
	for _, o := range p.operators {
		if o.Schema.View() != schema.NotView {
			names = append(names, own(o))
		}
	}
	return names
}

// own is the name of an op in a generated package.
func own(o engine.Operator) string {
	o.Schema = unqualified(o.Schema)
	return o.Name()
}

// itself is the path of this command.
func itself() string {
	self, _ := os.Executable()
	return self
}

// sum is the digest of a file, if it exists.
func sum(file string) []byte {
	text, _ := os.ReadFile(file)
	sum := sha256.Sum256(text)
	return sum[:]
}

// stamp distinguishes builds of libtorch, which take long to read.
func stamp(h hash.Hash, file string) {
	if info, err := os.Stat(file); err == nil {
		fmt.Fprintf(h, "%s %d %v\n", file, info.Size(), info.ModTime().UnixNano())
	}
}
