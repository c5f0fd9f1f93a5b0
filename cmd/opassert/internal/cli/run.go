package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/repro"
	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
	"github.com/opassert/opassert/cmd/opassert/internal/live"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/cmd/opassert/internal/watch"
	"github.com/opassert/opassert/gen"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/schema"
)

type runFlags struct {
	config   watch.Config
	lists    repeated
	ops      repeated
	level    *string
	record   *string
	json     *string
	formats  formatFlags
	html     *string
	baseline *baselineFlags
	watchOps *bool
	preserve *bool
	log      *string
	lines    *bool
	verbose  *bool
	programs *string  // their folder
	imports  repeated // by the programs
	version  string   // of the libtorch that was watched
}

func newRunFlags(f *flag.FlagSet) *runFlags {
	r := &runFlags{}
	c := &r.config
	f.Var(&r.lists, "allow", "")
	f.Var(&r.ops, "op", "")
	r.level = f.String("level", "", "")
	f.IntVar(&c.Sample, "sample", 1, "")
	f.Int64Var(&c.MaxBytes, "max-bytes", 0, "")
	f.Float64Var(&c.Tolerance, "tolerance", compare.Tolerance, "")
	f.BoolVar(&c.Fail, "fail", false, "")
	f.BoolVar(&c.Strict, "strict", false, "")
	r.record = newOutputFlag(f, "record")
	f.BoolVar(&c.Strings, "record-strings", false, "")
	r.json = newOutputFlag(f, "json")
	r.formats = newFormatFlags(f)
	r.programs = newOutputFlag(f, "repro")
	f.Var(&r.imports, "repro-import", "")
	r.html = newOutputFlag(f, "html")
	r.baseline = newBaselineFlags(f)
	r.watchOps = f.Bool("ops", true, "")
	r.preserve = f.Bool("preserve", false, "")
	r.log = newOutputFlag(f, "log")
	f.Func("child", "", func(text string) (err error) {
		c.Child, err = parseChild(text)
		return err
	})
	r.lines = f.Bool("lines", false, "")
	r.verbose = f.Bool("v", false, "")
	return r
}

func parseChild(text string) (*preload.Child, error) {
	pid, file, _ := strings.Cut(text, ":")
	child, err := strconv.ParseUint(pid, 10, 31)
	waits, bad := strconv.ParseUint(file, 10, 31)
	if err != nil || bad != nil || child == 0 {
		return nil, fmt.Errorf("%q: want PID:FILE, two numbers", text)
	}
	return &preload.Child{Pid: int(child), Waits: os.NewFile(uintptr(waits), "child")}, nil
}

// setLevel sets the ops whose calls are observed at the level content, and those whose fakes are called.
func (r *runFlags) setLevel() error {
	c := &r.config
	switch *r.level {
	case "":
		c.Content, c.Fakes = watch.CustomContent, watch.CustomContent
	case asserts.Identity.String():
	case asserts.Content.String():
		c.Content, c.Fakes = watch.AllContent, watch.CustomContent
	case asserts.Meta.String():
		c.Content, c.Fakes = watch.AllContent, watch.AllContent
	default:
		return usagef("no level %q; there are identity, content and meta", *r.level)
	}
	return nil
}

func runRun(inv *invocation) error {
	flags := newRunFlags(inv.flags)
	if err := inv.parse(1, 1<<20); err != nil {
		return err
	}
	if path, err := exec.LookPath(inv.flags.Arg(0)); err == nil {
		if err := inv.claimRead("the program", path); err != nil {
			return err
		}
	}
	switch {
	case !*flags.preserve && !*flags.watchOps:
		return usagef("nothing is watched: -ops=false needs -preserve")
	case !*flags.preserve && (*flags.log != "" || *flags.lines):
		return usagef("-log and -lines need -preserve")
	case *flags.preserve && flags.config.Child != nil:
		return usagef("-child can't be combined with -preserve")
	case *flags.record == "" && *flags.programs == "" && flags.config.Strings:
		return usagef("-record-strings needs -record or -repro")
	case *flags.programs == "" && len(flags.imports) > 0:
		return usagef("-repro-import needs -repro")
	case *flags.programs != "" && !*flags.watchOps:
		return usagef("-repro is about ops, which -ops=false does not watch")
	}
	if folder := *flags.programs; folder != "" {
		if err := (&repro.ProgramFolder{Path: folder}).Clear(); err != nil {
			return err
		}
	}
	if err := flags.setLevel(); err != nil {
		return err
	}
	switch c := flags.config; {
	case c.Sample < 1:
		return usagef("-sample %d: want 1 or more", c.Sample)
	case c.MaxBytes < 0:
		return usagef("-max-bytes %d: want 0, for any size, or more", c.MaxBytes)
	case !(c.Tolerance >= 0):
		return usagef("-tolerance %v: want a number above 0, such as 1e-4, or 0", c.Tolerance)
	case c.Tolerance > 0 && c.Tolerance != compare.Tolerance && c.Fakes == watch.NoContent:
		return usagef("-tolerance compares values with those of kernels for the CPU, which -level identity does not call")
	}
	if err := flags.baseline.read(); err != nil {
		return err
	}
	if err := flags.compile(inv.flags.Arg(0)); err != nil {
		return err
	}
	objects, err := flags.watchObjects(inv)
	if err != nil {
		return err
	}
	report, err := flags.runProgram(inv, objects.live)
	found, failed := objects.end(inv)
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	if *flags.watchOps {
		err = flags.write(inv, report)
	}
	err = errors.Join(err, toFile(*flags.json, func(w io.Writer) error { return report.WriteJSON(w, found.JSON()...) }))
	if err != nil {
		return err
	}
	if report.Status != 0 {
		return exitStatus(report.Status)
	}
	return exitStatus(max(report.ExitStatus(), found.ExitStatus()))
}

// runProgram runs and watches the program. The report is about ops, if they are watched.
func (r *runFlags) runProgram(inv *invocation, objects *live.Watch) (*watch.OpReport, error) {
	ctx, c := context.Background(), r.config
	c.Command, c.Stdin, c.Stdout, c.Stderr = inv.flags.Args(), os.Stdin, inv.own.stdout, inv.own.stderr
	if !*r.watchOps {
		status, err := objects.Run(ctx, c.Program)
		return &watch.OpReport{Status: status}, err
	}
	c.Objects, c.Plan, c.Policy = objects, r.plans(inv), asserts.Aware()
	if len(r.ops) > 0 {
		c.Wants = func(op string) bool {
			return slices.ContainsFunc(r.ops, func(pattern string) bool { return checkup.Matches(pattern, op) })
		}
	}
	if *r.record != "" || *r.programs != "" {
		c.Record = mostRecorded
	}
	c.Found = func(f *watch.OpFinding) {
		text := f.Brief()
		if *r.verbose {
			text = f.Report()
		}
		fmt.Fprintf(inv.stderr, "%s\n\n", text)
	}
	c.Known = func(f *watch.OpFinding) bool { return r.baseline.known != nil && f.KnownTo(r.baseline.known) }
	return watch.Run(ctx, c)
}

func (r *runFlags) write(inv *invocation, report *watch.OpReport) error {
	ops := report.Suite()
	if err := r.baseline.apply(inv, ops); err != nil {
		return err
	}
	if err := r.writePrograms(inv, report, ops); err != nil {
		return err
	}
	for _, f := range report.Findings { // those that -update has added
		f.Known = r.baseline.known != nil && f.KnownTo(r.baseline.known)
	}
	return errors.Join(
		report.WriteSummary(inv.stderr, *r.verbose),
		toFile(*r.html, ops.WriteHTML),
		toFileOf(0o600, *r.record, report.WriteCases), // it may contain the program's data
		r.formats.write(report.Results()),
	)
}

// writePrograms writes for each finding a program that makes a recorded call of its
// op, runs it, and prints its outcome.
func (r *runFlags) writePrograms(inv *invocation, watched *watch.OpReport, ops *report.Report) error {
	if *r.programs == "" {
		return nil
	}
	d := &repro.ProgramFolder{
		Path: *r.programs, Python: pythonOf(inv.flags.Arg(0)), Calls: watched.Recorded(),
		Source: repro.Source{Version: r.version},
	}
	for _, name := range r.imports {
		if strings.Contains(filepath.Base(name), ".so") {
			d.Libraries = append(d.Libraries, name)
		} else {
			d.Modules = append(d.Modules, name)
		}
	}
	ctx, stop := interruptible()
	defer stop()
	if err := d.Write(ctx, ops, runtime.GOMAXPROCS(0)); err != nil {
		return err
	}
	watched.AdoptPrograms(ops)
	for _, f := range watched.Findings {
		if f.Program != nil {
			fmt.Fprintf(inv.stderr, "opassert run: %v %s %v: program %v\n", f.Code, f.Op, f.Subject, f.Program)
		}
	}
	return nil
}

// compile compiles what watches a program before it starts, where its libtorch is known: otherwise the
// program waits for it, with the linker's lock. An error is that of the process that loads libtorch.
func (r *runFlags) compile(program string) error {
	var libraries []*compile.CppLibrary
	if *r.watchOps {
		libraries = append(libraries, watch.Watcher())
	}
	if *r.preserve {
		libraries = append(libraries, live.PyobjHooks())
	}
	if torch := torchOf(program); torch != nil {
		for _, l := range libraries {
			var interrupted *compile.Interrupted
			if _, err := l.Path(torch); errors.As(err, &interrupted) {
				return err
			}
		}
	}
	return nil
}

// torchOf returns the libtorch that a program is linked to, or its Python imports, or nil.
func torchOf(program string) *installed.Torch {
	folder := ""
	if path, err := exec.LookPath(program); err == nil {
		folder = installed.LinkedTo(path)
	}
	if folder == "" {
		folder = installed.ImportedBy(pythonOf(program))
	}
	if folder == "" {
		return nil
	}
	torch, err := installed.Inspect(folder)
	if err != nil || len(torch.Link()) == 0 {
		return nil
	}
	torch, _ = preload.Torch(torch.Link()[0]) // as the process finds it
	return torch
}

// pythonOf returns the Python of a program: itself, the one beside it, or the first
// on the path.
func pythonOf(program string) string {
	path, err := exec.LookPath(program)
	if err == nil && strings.HasPrefix(filepath.Base(path), "python") {
		return path
	}
	if beside, err := exec.LookPath(filepath.Join(filepath.Dir(path), "python3")); err == nil && path != "" {
		return beside
	}
	path, _ = exec.LookPath("python3")
	return path
}

// mostRecorded is the number of recorded calls of an op.
const mostRecorded = 32

// plans returns the function that makes the plans of a run, with the allowlists for
// each version of libtorch that its processes load, and each device.
func (r *runFlags) plans(inv *invocation) func(version, device string, op *schema.Op) (engine.Checks, error) {
	var mu sync.Mutex
	planners := make(map[allowlist.Where]*plan.Planner)
	return func(version, device string, op *schema.Op) (engine.Checks, error) {
		mu.Lock()
		defer mu.Unlock()
		r.version = "libtorch " + version
		number, _, _ := strings.Cut(version, "+")
		at := allowlist.Where{Version: number, Device: device}
		if planners[at] == nil {
			o := gen.Options{Version: number, Device: device, Allow: append([]string{"run"}, r.lists...), Today: time.Now()}
			planner, expired, err := gen.NewPlanner(o, nil)
			if device == "" {
				inv.printExpired(expired)
			}
			if err != nil {
				return engine.Checks{}, err
			}
			planners[at] = planner
		}
		return checkup.Planned(planners[at].Plan(op), asserts.Meta), nil
	}
}
