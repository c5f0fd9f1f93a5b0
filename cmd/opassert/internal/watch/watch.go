package watch

import (
	"cmp"
	"context"
	"embed"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/cmd/opassert/internal/live"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/schema"
)

// Content selects the ops whose calls are observed at the level content, or whose fakes are called.
type Content int

const (
	NoContent     Content = iota
	CustomContent         // ops that are not PyTorch's own, and kernels of its ops that are not
	AllContent
)

// A Config is the program to run, and the checks of its calls.
type Config struct {
	preload.Program
	Objects *live.Watch // of the same program; may be nil
	// Plan plans the ops of a version of libtorch, and of a device if it is given.
	Plan    func(version, device string, op *schema.Op) (engine.Checks, error)
	Policy  *asserts.Policy
	Wants   func(op string) bool // which ops; nil: all
	Record  int                  // calls to keep of an op that is not PyTorch's own, or its kernel is not, or Wants names
	Strings bool                 // string arguments are kept too
	Content Content
	Fakes   Content // when the program ends, once for each kind of arguments, on a device three times
	// Tolerance is how far values on a device may be from those of the kernel for the CPU, relative to 1 + their size; 0:
	// they are not compared.
	Tolerance float64
	Sample    int                   // observe one in Sample calls of PyTorch's own ops at the level content
	MaxBytes  int64                 // calls on larger storages are observed at the level identity; 0: no limit
	Fail      bool                  // raise a finding at the call
	Strict    bool                  // notes are errors
	Found     func(*OpFinding)      // called with each distinct finding at once; may be nil
	Known     func(*OpFinding) bool // whether a baseline has a finding, which is neither printed nor raised; may be nil
}

// level returns the level of PyTorch's own ops, or of others.
func (c Config) level(custom bool) asserts.Level {
	among := func(which Content) bool { return which == AllContent || custom && which == CustomContent }
	switch {
	case among(c.Fakes):
		return asserts.Meta
	case among(c.Content):
		return asserts.Content
	}
	return asserts.Identity
}

type run struct {
	config   Config
	object   *preload.SharedObject
	counts   *os.File
	cwd      string
	ops      ops
	findings findings
	origins  origins

	mu        sync.Mutex
	processes map[int]string // pid -> rank
	packages  []string       // folders of the Python packages torch
	names     map[string]bool
	records   map[string]records // by op
	skips     map[opSkip]int
	faked     map[int64]int // answers of fakes, by the number of the op
	early     int           // Python threads that ran before libtorch was loaded
}

//go:embed shim
var shim embed.FS

//go:embed shim/loader.c
var loader string

// Run runs the program to its end. It returns an error if the program was not
// started; all other failures are in the report.
func Run(ctx context.Context, config Config) (*OpReport, error) {
	cwd, _ := os.Getwd()
	config.Policy = config.Policy.With(watched...)
	r := &run{
		config: config, cwd: cwd,
		ops: ops{byText: make(map[string]*watchedOp), plan: config.Plan, wants: config.Wants, record: config.Record},
		findings: findings{byKey: make(map[string]*OpFinding), command: printable.Shell(config.Command...),
			held: make(reporters), first: config.Found, known: config.Known, strict: config.Strict},
		processes: make(map[int]string), names: make(map[string]bool), skips: make(map[opSkip]int),
		records: make(map[string]records), origins: newOrigins(),
		faked: make(map[int64]int),
	}
	kind := Loader()
	kind.Fit, kind.Memory = r.fit, r.memory
	var err error
	r.counts, err = preload.NewMemory("opassert-counts", countsOps*countsSize+lostSize)
	if err != nil { //mutate:equivalent false: a limit of files is one of the whole process of a test
		return nil, err
	}
	defer r.counts.Close()
	if r.object, err = preload.New(kind); err != nil {
		return nil, err
	}
	defer r.object.Close()
	r.object.Serve(func() preload.AnswerFunc {
		return (&process{run: r, pending: make(map[int64][]*asserts.Violation)}).answer
	})
	begun := time.Now()
	preloads := []*preload.SharedObject{r.object}
	if config.Objects != nil {
		preloads = append(preloads, config.Objects.Object)
	}
	end, err := config.Program.Run(ctx, preloads...)
	if err != nil {
		return nil, err
	}
	r.object.Close()
	r.origins.end()
	r.findings.end()
	return r.report(end, time.Since(begun))
}

// Loader loads the watcher into a process.
func Loader() preload.ObjectSpec {
	return preload.ObjectSpec{Name: "run", Source: loader, Variable: "OPASSERT_RUN", Library: "libtorch_cpu.so"}
}

// memory returns the counts, or the contexts of the process whose number is asked for.
func (r *run) memory(_ int, which string) (*os.File, error) {
	if which == "" {
		return r.counts, nil
	}
	return r.findings.contexts(which)
}

// fit compiles the watcher for a libtorch, or finds it in the cache.
func (r *run) fit(library string) (string, error) {
	torch, err := preload.Torch(library)
	if err != nil {
		return "", err
	}
	if torch.Package != "" {
		r.mu.Lock()
		r.packages = append(r.packages, torch.Package)
		r.mu.Unlock()
	}
	return Watcher().Path(torch)
}

// units are the sources of the watcher: those of the shim that observe, and its own.
var units = []string{
	"observe.cpp", "device.cpp", "schemas.cpp",
	"channel.cpp", "site.cpp", "keys.cpp", "listed.cpp", "imports.cpp", "others.cpp", "works.cpp", "usual.cpp",
	"counts.cpp", "watched.cpp", "python.cpp", "confine.cpp", "json.cpp", "record.cpp", "fakes.cpp", "observedcall.cpp",
	"backward.cpp", "unboxed.cpp", "kernels.cpp", "registrations.cpp", "watch.cpp",
}

// Watcher observes the calls in a program.
func Watcher() *compile.CppLibrary {
	files := []fs.FS{libtorch.Sources(), compile.Embedded(shim, "shim")}
	return &compile.CppLibrary{Name: "watch", Files: files, Units: units, Link: []string{"-O2", "-DNDEBUG"}}
}

func (r *run) layout(pythonLibrary string) pythonFolders {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := pythonFolders{stdlib: pythonLibrary, cwd: r.cwd}
	if len(r.packages) > 0 {
		l.torch = r.packages[0]
	}
	return l
}

// met counts a process, with its threads that were there before the watcher.
func (r *run) met(p *process, early int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, again := r.processes[p.pid]; !again {
		r.early += early
	}
	r.processes[p.pid] = p.rank
}

func (r *run) registered(names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		if torch.Custom(name) {
			r.names[name] = true
		}
	}
}

// surroundings are those of a call, whoever's kernel it is.
type surroundings struct {
	concurrent bool // another thread wrote
	below      bool // autograd's kernels are off, and with them those that raise versions
	threw      bool // the call
	moved      bool // the call left another device the current one
	pending    bool // a result is that of a collective that was not waited for
	collects   bool // Python's collector can run, and the tensors be observed again
	collected  bool // it has, and they were
	device     string
}

// excuse returns the reason why a violation is not the kernel's, or "" if it is.
func (s surroundings) excuse(code asserts.Code) string {
	switch {
	case s.concurrent && code.Level() >= asserts.Content:
		return "another thread wrote during the call"
	case s.pending && code == asserts.KeptArgument:
		return pending
	case s.below && code == asserts.VersionBump:
		return "called below autograd, as by a compiled graph, where nothing raises versions"
	}
	return ""
}

// judge returns the violations of a call, and a function that counts the checks judged and skipped.
func (r *run) judge(op *watchedOp, seen *asserts.Seen, around surroundings) ([]*asserts.Violation, func()) {
	judged := op.judged
	if len(seen.ArgLens) > len(op.judged.Args) {
		judged = op.parts
	}
	if around.threw {
		judged = judged.Thrown(asserts.CodesOf(asserts.UndeclaredWrite))
	}
	verdict := asserts.Judge(judged, seen, r.config.Policy)
	if around.moved {
		moved := []asserts.Fault{torch.Changed("the current device of the backend is another than before the call")}
		verdict.Violations = append(verdict.Violations, asserts.JudgeFaults(judged, seen, moved).Violations...)
	}
	skips := append(verdict.Skips, verdict.Unheld(judged, seen)...)
	broken := slices.DeleteFunc(slices.Clone(verdict.Violations), func(v *asserts.Violation) bool {
		if reason := cmp.Or(harmlessInside(op, v), around.excuse(v.Code), libtorch.HarmlessParts(judged, v)); reason != "" {
			skips = append(skips, asserts.Skip{Code: v.Code, Reason: reason, Count: 1})
			return true
		}
		if around.threw {
			v.Saw += ", and then it threw"
		}
		v.Note = cmp.Or(v.Note, answeredView(op, seen, v))
		return op.excuses(v, around.device)
	})
	return broken, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, s := range skips {
			r.skip(op.name, s.Code, s.Reason, s.Count)
		}
		r.countUnseen(op.name, judged, seen)
		r.countHidden(op, seen, verdict.Violations)
	}
}

// collect reports whether Python's collector is to run before violations are reported, as what refers to tensors may be
// garbage: after the first such calls of each op, and then ever more seldom, since it takes long. If it is not to run,
// collect returns the violations without those that are likely to be of garbage.
func (r *run) collect(op *watchedOp, broken []*asserts.Violation, around surroundings) ([]*asserts.Violation, bool) {
	refers := func(v *asserts.Violation) bool { return (fresh | 1<<asserts.KeptArgument).Has(v.Code) }
	found := slices.ContainsFunc(broken, refers)
	r.mu.Lock()
	defer r.mu.Unlock()
	if around.collected {
		op.freed = op.freed || !found
	}
	if !around.collects || !found {
		return broken, false
	}
	if op.referred++; op.referred <= 8 || op.referred&(op.referred-1) == 0 {
		return nil, true
	}
	return slices.DeleteFunc(broken, func(v *asserts.Violation) bool {
		garbage := op.freed && refers(v)
		if garbage {
			r.skip(op.name, v.Code, "Python's collector freed such references after earlier calls, and was not run", 1)
		}
		return garbage
	}), false
}

// countUnseen counts the checks that the judge leaves out where others than the op may have taken a reference.
func (r *run) countUnseen(name string, op *asserts.Op, seen *asserts.Seen) {
	codes := op.Codes()
	if !codes.Has(asserts.KeptArgument) || seen.Level < asserts.Content || seen.Alone {
		return
	}
	for i, a := range seen.After {
		if b := seen.Before[i]; a.ImplUses > b.ImplUses || a.StorageUses > b.StorageUses {
			r.skip(name, asserts.KeptArgument, "other threads may use the tensors", 1)
		}
	}
}

// countHidden counts the results whose inner tensors are out of sight, where nothing was found.
func (r *run) countHidden(op *watchedOp, seen *asserts.Seen, found []*asserts.Violation) {
	for code := range (op.judged.Codes() & inside).All() {
		if slices.ContainsFunc(found, func(v *asserts.Violation) bool { return v.Code == code }) {
			continue
		}
		for _, o := range seen.Results {
			if o.Traits&asserts.WrapperSubclass != 0 {
				r.skip(op.name, code, hidden, 1)
			}
		}
	}
}

// notSeen returns the custom ops of which no call was seen.
func (r *run) notSeen(called map[string]*report.OpResult) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.names)), func(name string) bool { return called[name] != nil })
}

// harmlessInside returns the reason why a violation about the tensors inside sparse,
// quantized and nested ones is harmless, or "".
func harmlessInside(op *watchedOp, v *asserts.Violation) string {
	switch {
	case !v.Subject.Inside && !v.Against.Inside:
		return ""
	case !op.custom:
		return "inside a sparse, quantized or nested tensor, which PyTorch's own ops share"
	case v.Code == asserts.FreshImpl && v.Subject.Aliased:
		return "a part as it lies in its tensor: autograd makes the view of it"
	}
	return ""
}
