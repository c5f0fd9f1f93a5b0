package checkup

import (
	"bufio"
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
)

// OpenState opens the state of the run. A file that is not a state is an error;
// any other failure is a warning, and does not prevent the report.
func (c *Run) OpenState() error {
	c.begin()
	key := c.key()
	path := c.State
	warn := func(err error) error {
		fmt.Fprintf(c.Messages, "opassert check: warning: this run can't be continued if it is interrupted: %v\n", err)
		return nil
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
		return err
	case err != nil:
		return warn(err)
	case file.Other:
		fmt.Fprintf(c.Messages, "opassert check: %s belongs to another run; starting over\n", path)
	}
	if c.Rerun {
		clear(file.Known)
	}
	c.state = file
	known := 0
	for _, o := range c.Operators {
		if file.Known[o.Name()] != nil {
			known++
		}
	}
	if known > 0 {
		fmt.Fprintf(c.Messages, "opassert check: continuing from %s: %d ops are done\n", file.Path, known)
	}
	return nil
}

// Known returns the results of an earlier, interrupted run.
func (c *Run) Known() map[string]*report.OpResult {
	if c.state == nil {
		return nil
	}
	return c.state.Known
}

// CloseState ends the state of a completed run, and keeps that of another.
func (c *Run) CloseState(completed bool) {
	if c.state == nil {
		return
	}
	end := c.state.Close
	if completed {
		end = c.state.Finish
	}
	if err := end(); err != nil {
		fmt.Fprintf(c.Messages, "opassert check: warning: %v\n", err)
	}
}

// Stored returns the end of a message, with the file from which an interrupted run continues.
func (c *Run) Stored() string {
	if c.state == nil || c.state.Err() != nil {
		return ""
	}
	return fmt.Sprintf("; results are stored in %s, and the same command continues from there", c.state.Path)
}

// key returns the digest of everything that decides the results of the run's cases: what was built
// and loaded, this command, and the flags.
func (c *Run) key() string {
	var in inputs
	in.add(c.Engine, c.Level, c.Seed, c.Cases, c.Case, c.Timeout, c.engine, c.Autograd, c.Guarded, c.Guard, c.Tolerance,
		c.Device, c.module.root, c.Libs, c.Modules, c.Ops, c.library, c.shard)
	if len(c.Allow) > 0 {
		in.add(time.Now().Format(time.DateOnly)) // entries expire
	}
	if c.Schema != "" {
		in.addContents(math.MaxInt64, c.Schema, filepath.Join(filepath.Dir(c.Schema), "tags.yaml"))
	}
	in.addContents(math.MaxInt64, itself(), c.CasesFile)
	in.addContents(math.MaxInt64, c.Allow...)
	in.addContents(startOfFile, c.Files...)
	if c.Torch != nil {
		in.stamp(c.Torch.Link()...)
	}
	for _, module := range c.Modules { // whose files are read, too, and not only those that it imports at first
		in.addContents(startOfFile, moduleFiles(c.Host.Source(module))...)
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

// Digest has the report contain digests of what decides the results. Shards run on several machines:
// no path, time or variable is in them.
func (c *Run) Digest() error {
	var own, kernels, lists, flags, ops inputs
	if own.add(c.Version); c.Version == "(devel)" || strings.HasSuffix(c.Version, "+dirty") { // that of many sources
		own.addContents(math.MaxInt64, itself())
	}
	if c.Schema != "" {
		kernels.addContents(math.MaxInt64, c.Schema, filepath.Join(filepath.Dir(c.Schema), "tags.yaml"))
	}
	kernels.addContents(math.MaxInt64, c.Files...)
	for _, module := range c.Modules {
		kernels.addContents(math.MaxInt64, moduleFiles(c.Host.Source(module))...)
	}
	for _, p := range c.programs {
		if p.listed != nil {
			kernels.addContents(startOfFile, slices.DeleteFunc(slices.Clone(p.listed.Files), ofMachine)...)
		}
		if p.suite == nil {
			continue
		}
		sources, err := c.module.sources(p) // since the binary has their paths
		if err != nil {
			return err
		}
		kernels.addContents(math.MaxInt64, sources...)
		if info, err := buildinfo.ReadFile(p.binary); err == nil {
			kernels.add(info.GoVersion)
		}
	}
	lists.addContents(math.MaxInt64, c.Allow...)
	flags.add(c.Engine, c.Case, c.Timeout, c.Autograd, c.watchesMemory(), c.Tolerance, c.Modules, c.library)
	flags.addContents(math.MaxInt64, c.CasesFile)
	ops.add(c.Ops)
	c.of = map[string]string{"kernels": kernels.digest(), "opassert": own.digest(), "allowlists": lists.digest(),
		"flags": flags.digest(), "ops": ops.digest()}
	return nil
}

// Earlier returns the report of the last run over the same libraries or modules in this folder, if nothing
// that decides it has changed since, or nil. Go kernels, devices and runs of single cases have none.
func (o *Options) Earlier() *report.Report {
	path := o.keptAt()
	if path == "" || o.Rerun {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	in := bufio.NewReader(f)
	line, _ := in.ReadBytes('\n')
	var last earlierRun
	if json.Unmarshal(line, &last) != nil || last.Digest != o.decides(last.Loaded) {
		return nil
	}
	r, _ := report.ReadReport(in)
	return r
}

// Keep writes the report for Earlier, unless calls were cut for time, or a file changed during the run.
func (c *Run) Keep(r *report.Report) error {
	path := c.keptAt()
	cut := func(op *report.OpResult) bool { return op.Fault != "" || op.Left != "" || len(op.Unfinished) > 0 }
	if path == "" || len(c.Left) > 0 || slices.ContainsFunc(r.Ops, cut) ||
		c.begun.Digest == "" || c.begun.Digest != c.decides(c.begun.Loaded) { // a file was written meanwhile
		return nil
	}
	line, err := json.Marshal(c.begun)
	text := bytes.NewBuffer(append(line, '\n'))
	if err := cmp.Or(err, r.WriteJSON(text), os.WriteFile(path+".part", text.Bytes(), 0o600)); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// begin records what decides the report, before the first call.
func (c *Run) begin() {
	if c.keptAt() == "" {
		return
	}
	for _, p := range c.programs {
		c.begun.Loaded = append(c.begun.Loaded, p.listed.Files...)
	}
	c.begun.Digest = c.decides(c.begun.Loaded)
}

// keptAt returns the file with the last run's report, or "" for a run that keeps none.
func (o *Options) keptAt() string {
	if len(o.adding()) == 0 || o.Device != "" || o.Case >= 0 || o.CasesFile != "" || o.State != "" {
		return ""
	}
	cache, err := os.UserCacheDir()
	here, missing := os.Getwd()
	if err != nil || missing != nil {
		return ""
	}
	var in inputs
	in.add(here, o.Libs, o.Modules, o.Ops, o.Torch.Root)
	return filepath.Join(cache, "opassert", "last-"+in.digest()+".json")
}

// decides returns the digest of what decides a report, or "" if that can't be known: besides what an interrupted run
// continues with, the files that were loaded, and the code beside a module, which it may import later.
func (o *Options) decides(loaded []string) string {
	var in inputs
	in.add((&Run{Options: o, shard: o.Shard}).key())
	in.stamp(loaded...)
	for _, module := range o.Modules {
		files, all := codeBeside(o.Host.Source(module))
		if !all {
			return ""
		}
		in.add(files)
		in.stamp(files...)
	}
	return in.digest()
}
