package checkup

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/schema"
)

// A Run is a prepared run.
type Run struct {
	*Options
	All       []engine.Operator // the ops of the engine
	Operators []engine.Operator // the ops to run

	backend   *backend
	programs  []*kernelProgram
	engine    string            // the engine's name in reports
	library   string            // its version
	unrun     []engine.Operator // the ops that -device leaves out
	unmatched []string          // patterns that match no op
	shard     report.Shard
	planner   *plan.Planner
	allowed   []*allowlist.List // of -allow
	own       *suite.Recipes    // the user's cases, or nil
	state     *suite.ResultStore
	begun     earlierRun
	of        map[string]string // the report's
}

// An earlierRun is the first line of the file with the report of a command's last run.
type earlierRun struct {
	Loaded []string `json:"loaded"` // the files that the ops' libraries and modules are of
	Digest string   `json:"digest"` // of what decides the report
}

// Start finds the ops to run. It loads no op library: a worker does. The run is to be closed.
func Start(o *Options) (*Run, error) {
	c := &Run{Options: o, shard: o.Shard}
	if err := c.start(o); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Run) start(o *Options) (err error) {
	if c.backend, err = o.backend(); err != nil {
		return err
	}
	if c.programs, err = c.backend.prepare(c); err != nil {
		return err
	}
	if err = c.list(); err != nil {
		return err
	}
	c.Operators, c.unmatched = o.choose(c.All)
	if c.shard.Of > 0 {
		c.shard.Ops = len(c.Operators)
	}
	c.Operators = c.shard.Take(c.Operators)
	if o.Device != "" && len(o.Ops) == 0 {
		c.unrun = c.shard.Take(slices.DeleteFunc(slices.Clone(c.All), o.chooses))
	}
	var schemas []*schema.Op
	for _, op := range c.All {
		schemas = append(schemas, op.Schema)
		if plain := unqualified(op.Schema); plain != op.Schema {
			schemas = append(schemas, plain)
		}
	}
	c.library = libraryVersion(c.engine)
	if c.planner, err = o.Planner(c.library, schemas); err != nil {
		return err
	}
	c.waive()
	for _, path := range o.Allow {
		list, err := allowlist.Open(path, nil)
		if err != nil {
			return err
		}
		c.allowed = append(c.allowed, list)
	}
	return errors.Join(c.matched(), c.fit())
}

// list asks every program for its ops.
func (c *Run) list() error {
	var engines []string
	for _, p := range c.programs {
		listing, err := c.listing(p.start)
		if err != nil {
			return err
		}
		engines, p.operators = append(engines, listing.Version), listing.Operators
		if p.job == nil {
			p.listed = listing
		} else { // which the worker has unresolved
			listing.Close()
		}
	}
	qualify(c.programs)
	for _, p := range c.programs {
		c.All = append(c.All, p.operators...)
	}
	slices.SortFunc(c.All, func(a, b engine.Operator) int { return strings.Compare(a.Name(), b.Name()) })
	c.engine = strings.Join(engines, ", ")
	return nil
}

// listing asks a worker for its ops, without the libraries that can't be loaded, unless none can.
func (c *Run) listing(start func() *exec.Cmd) (*suite.Listed, error) {
	for {
		listing, err := suite.List(start)
		var failed *engine.LoadError
		if errors.As(err, &failed) && len(c.Files) > 1 {
			c.Leave(c.Messages, failed)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, failed := range listing.Unloaded {
			if len(c.Files) == 1 {
				listing.Close()
				return nil, failed
			}
			c.Leave(c.Messages, failed)
		}
		for _, line := range listing.Wrote {
			fmt.Fprintln(c.Messages, "opassert:", line)
		}
		return listing, nil
	}
}

// Close ends the workers that listed ops, unless a run uses them, and removes the programs that were built.
func (c *Run) Close() {
	for _, p := range c.programs {
		if p.listed != nil {
			p.listed.Close()
		}
	}
	if c.module.scratch != nil {
		c.module.scratch.Remove()
	}
}

// libraryVersion returns the number in "libtorch 2.6.0+cu124", or "".
func libraryVersion(engine string) string {
	name, version, _ := strings.Cut(engine, " ")
	if name != "libtorch" {
		return ""
	}
	version, _, _ = strings.Cut(version, " ")
	version, _, _ = strings.Cut(version, "+")
	return version
}
