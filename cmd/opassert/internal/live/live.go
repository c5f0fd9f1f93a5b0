package live

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/printable"
)

// A Config is the settings of a run.
type Config struct {
	Log   io.Writer            // gets the events as a log for package trace; may be nil
	Lines bool                 // record the Python line of every event, not only of suspected faults
	Fail  bool                 // end a process that breaks a rule, at that line if it is suspected at once
	Found func(*ObjectFinding) // called with each finding, roots before their consequences; may be nil
}

// An ObjectReport is the result of a run.
type ObjectReport struct {
	Findings  []*ObjectFinding
	Events    int64
	Processes int               // processes that loaded libtorch_python
	Protocol  preserve.Protocol // the last process's PyTorch
	Lost      int64             // incomplete rings: the program was too fast, or ended in the middle
	Unwatched []string
	Left      []string // processes that still run, without libtorch
}

//go:embed shim
var shim embed.FS

//go:embed shim/stubs.c
var stubs string

// A Watch follows the objects of a program that runs with its preloaded object.
type Watch struct {
	Object *preload.SharedObject
	config Config

	ended   chan struct{}
	reading sync.WaitGroup
	mu      sync.Mutex
	report  ObjectReport
	logMu   sync.Mutex
}

// Stubs are the functions that load the hooks into a process.
func Stubs() preload.ObjectSpec {
	return preload.ObjectSpec{
		Name: "preserve", Source: stubs, Variable: "OPASSERT_PRESERVE", Library: "libtorch_python.so"}
}

// Start starts watching. Then the program is run, and [Watch.End] is called.
func Start(config Config) (*Watch, error) {
	kind, w := Stubs(), &Watch{config: config, ended: make(chan struct{})}
	kind.Memory = w.follow
	kind.Fit = func(library string) (string, error) {
		torch, err := preload.Torch(library)
		if err != nil {
			return "", err
		}
		return PyobjHooks().Path(torch)
	}
	var err error
	if w.Object, err = preload.New(kind); err != nil {
		return nil, err
	}
	w.Object.Serve(nil)
	return w, nil
}

// Run runs a program, watches only its objects, and returns its exit status.
func (w *Watch) Run(ctx context.Context, program preload.Program) (int, error) {
	end, err := program.Run(ctx, w.Object)
	w.report.Left = end.Left
	return end.Status, err
}

// End reads the remaining events, after the program's end.
func (w *Watch) End() *ObjectReport {
	w.Object.Close()
	close(w.ended)
	w.reading.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.Unwatched = w.Object.Unwatched()
	if w.report.Processes == 0 && len(w.report.Unwatched) == 0 {
		w.report.Unwatched = []string{"no object was watched: no process of the program loaded PyTorch's Python library"}
	}
	return &w.report
}

// PyobjHooks observe the Python objects of a program.
func PyobjHooks() *compile.CppLibrary {
	return &compile.CppLibrary{Name: "pyobj_hooks", Files: []fs.FS{compile.Embedded(shim, "shim")},
		Units: []string{"pyobj_hooks.cpp"}, Link: []string{"-O2", "-ldl"}}
}

// follow makes a process's ring, with the settings of the hooks, and starts to read it.
func (w *Watch) follow(pid int, _ string) (*os.File, error) {
	f, err := preload.NewMemory("opassert-events", ringSize)
	if err != nil {
		return nil, err
	}
	ring, unmap, err := preload.Map(f, ringSize)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	for bit, on := range []bool{w.config.Lines, w.config.Fail} {
		if on {
			ring[ringAsked] |= 1 << bit
		}
	}
	w.reading.Go(func() {
		w.read(ring, pid)
		if err := errors.Join(unmap(), f.Close()); err != nil {
			w.Object.NotWatched(err.Error())
		}
	})
	return f, nil
}

// The ring's head; see pyobj_hooks.cpp.
const (
	ringHead   = 4096
	ringAsked  = 60
	ringEvents = 1 << 16
	ringSize   = ringHead + ringEvents*eventSize
)

// read follows one process to its end.
func (w *Watch) read(ring []byte, pid int) {
	head := (*uint64)(unsafe.Pointer(&ring[0]))
	tail := (*uint64)(unsafe.Pointer(&ring[8]))
	gone := (*uint32)(unsafe.Pointer(&ring[24]))
	protocol := (*uint32)(unsafe.Pointer(&ring[20]))
	over := false
	for ; atomic.LoadUint32(protocol) == 0; over = w.over(pid) { // the hooks have not started
		if over {
			return
		}
	}
	j := newJudge(pid, preserve.Protocol(*protocol), func(f *ObjectFinding) { w.found(f, pid) })
	j.torch, _, _ = strings.Cut(string(ring[28:60]), "\x00")
	var log *logWriter
	if w.config.Log != nil {
		log = &logWriter{w: w.config.Log, mu: &w.logMu, judge: j}
	}
	var n uint64
	for {
		last := over
		for h := atomic.LoadUint64(head); n < h; n++ {
			at := ringHead + n%ringEvents*eventSize
			e, name := readEvent(ring[at : at+eventSize])
			if log != nil {
				log.write(&e)
			}
			j.take(&e, name)
			if n%1024 == 0 {
				atomic.StoreUint64(tail, n)
			}
		}
		atomic.StoreUint64(tail, n)
		if last {
			j.end()
			break
		}
		over = w.over(pid)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.Events += j.number
	w.report.Processes++
	w.report.Protocol = j.protocol
	if atomic.LoadUint32(gone) != 0 {
		w.report.Lost++
	}
}

// over waits a moment, and reports whether the process or the program has ended.
func (w *Watch) over(pid int) bool {
	select {
	case <-w.ended:
		return true
	case <-time.After(time.Millisecond):
		return !preload.Lives(pid)
	}
}

func (w *Watch) found(f *ObjectFinding, pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.Findings = append(w.report.Findings, f)
	if w.config.Found != nil {
		w.config.Found(f)
	}
	if process, err := os.FindProcess(pid); w.config.Fail && err == nil {
		process.Signal(syscall.SIGTERM)
	}
}

// Report returns the finding as text.
func (f *ObjectFinding) Report() string {
	what := "TensorImpl"
	if f.Storage {
		what = "StorageImpl"
	}
	s := printable.Sprintf("%s %s  object %s %s, %s %s: event %d of process %d\n  saw     %s",
		f.Code, f.Code.Name(), f.Object, f.Type, what, f.Impl, f.Event, f.Process, f.Saw)
	if f.Site != nil {
		s += printable.Sprintf("\n  site    %v", f.Site)
	}
	if f.Made != "" {
		s += printable.Sprintf("\n  made    %s", f.Made)
	}
	if f.Root != nil {
		return s + printable.Sprintf("\n  follows from %s at event %d", f.Root.Code, f.Root.Event)
	}
	return s + printable.Sprintf("\n  rule    %s\n  breaks  %s\n  fix     %s",
		f.Code.Rule(), f.Code.Breaks(), f.Code.Fix())
}

// Summary returns the report's counts in one line.
func (r *ObjectReport) Summary() string {
	roots := slices.DeleteFunc(slices.Clone(r.Findings), func(f *ObjectFinding) bool { return f.Root != nil })
	return fmt.Sprintf("%d violations (%d findings) in %d events of %d processes",
		len(r.Findings), len(roots), r.Events, r.Processes)
}

// ExitStatus returns 2 if something was not watched, else 1 with findings.
func (r *ObjectReport) ExitStatus() int {
	switch {
	case len(r.Unwatched) > 0 || r.Lost > 0:
		return 2
	case len(r.Findings) > 0:
		return 1
	}
	return 0
}

// A shown finding is a finding in the form of -json.
type shown struct {
	*ObjectFinding
	Name   string        `json:"name"`
	Count  int           `json:"count"`
	Pids   []int         `json:"pids"`
	Root   int64         `json:"root,omitempty"` // the event of the finding that it follows from
	Site   []*PythonLine `json:"site"`
	Breaks string        `json:"breaks"`
	Fix    string        `json:"fix"`
}

// JSON returns the findings as values for encoding/json.
func (r *ObjectReport) JSON() []any {
	all := []any{}
	for _, f := range r.Findings {
		s := shown{ObjectFinding: f, Name: f.Code.Name(), Count: 1, Pids: []int{f.Process}, Site: []*PythonLine{},
			Breaks: f.Code.Breaks(), Fix: f.Code.Fix()}
		if f.Site != nil {
			s.Site = append(s.Site, f.Site)
		}
		if f.Root != nil {
			s.Root = f.Root.Event
		}
		all = append(all, s)
	}
	return all
}
