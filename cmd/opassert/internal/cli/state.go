package cli

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/report"
)

// A stateFlag names a file that is read and written in its place; trouble with
// it is for later.
type stateFlag struct{ outputFlag }

func newStateFlag(f *flag.FlagSet, usage string) *string {
	s := new(stateFlag)
	f.Var(s, "state", usage)
	return (*string)(&s.outputFlag)
}

func (*stateFlag) check() error { return nil }

// A runState is the state of a run, where it has one: trouble with it costs a
// warning, and never the report.
type runState struct {
	file *suite.State
}

// openState opens the state of the run. A file that is not a state is refused;
// anything else that stands in its way is a warning.
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
		fmt.Fprintf(inv.stderr, "opassert check: %s held the state of another run; it is begun anew\n", path)
	case len(file.Known) > 0:
		fmt.Fprintf(inv.stderr, "opassert check: going on from %s: %d ops are done\n", path, len(file.Known))
	}
	return &runState{file}, nil
}

func (s *runState) keep(r *report.OpResult) {
	if s.file != nil {
		s.file.Keep(r)
	}
}

// close ends the state of a run that is through, and keeps that of another.
func (s *runState) close(inv *invocation, through bool) {
	if s.file == nil {
		return
	}
	end := s.file.Close
	if through {
		end = s.file.Remove
	}
	if err := end(); err != nil {
		fmt.Fprintf(inv.stderr, "opassert check: warning: %v\n", err)
	}
}

// goesOn says where an interrupted run goes on.
func (s *runState) goesOn() string {
	if s.file == nil || s.file.Err() != nil {
		return ""
	}
	return fmt.Sprintf("; what is done is kept in %s, and the same command goes on from there", s.file.Path)
}

// key stands for everything that decides how the run's cases come out.
func (c *checkup) key() string {
	f := c.flags
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", []any{
		*f.engine, *f.level, f.libs, f.pythonModules(), f.ops, *f.seed, *f.cases, *f.only, *f.timeout, *f.preset, *f.version, c.engine, c.shard, *f.through,
	})
	if f.found != nil {
		for _, file := range f.found.Link() {
			stamp(h, file)
		}
	}
	f.stampModules(h)
	fmt.Fprintf(h, "%s\n", f.module.sums)
	self, _ := os.Executable()
	tags := *f.tags
	if tags == "" && *f.schema != "" {
		tags = filepath.Join(filepath.Dir(*f.schema), "tags.yaml")
	}
	for _, file := range slices.Concat([]string{self, *f.schema, *f.base, tags, *f.casesFrom}, f.files, f.allow) {
		text, _ := os.ReadFile(file)
		fmt.Fprintf(h, "%s %x\n", file, sha256.Sum256(text))
	}
	if len(f.allow) > 0 {
		fmt.Fprintln(h, time.Now().Format(time.DateOnly)) // entries expire
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// stamp tells one build of libtorch from another: to read all of it takes long.
func stamp(h hash.Hash, file string) {
	if info, err := os.Stat(file); err == nil {
		fmt.Fprintf(h, "%s %d %v\n", file, info.Size(), info.ModTime().UnixNano())
	}
}
