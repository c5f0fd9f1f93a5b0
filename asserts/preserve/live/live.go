package live

import (
	"bufio"
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/opassert/opassert/asserts/internal/compile"
	"github.com/opassert/opassert/asserts/libtorch/installed"
)

// A Config says what to run.
type Config struct {
	Command        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Log            io.Writer      // takes the log's text form, as package trace reads it; may be nil
	Lines          bool           // the Python line of every event, and not only of what looks wrong
	Fail           bool           // kill the process that breaks a rule, at once
	Found          func(*Finding) // called with each finding, the root before what follows from it; may be nil
}

// A Report is what a run came to.
type Report struct {
	Findings  []*Finding
	Events    int64
	Processes int   // that loaded libtorch_python
	Lost      int64 // rings that were given up: the program outran this one, or ended in the middle
	Status    int   // the program's exit status
	Troubles  []string
}

//go:embed shim
var shim embed.FS

type run struct {
	config Config
	folder string

	mu     sync.Mutex
	rings  map[string]bool
	report Report
	logMu  sync.Mutex
}

// Run runs the program to its end. An error says why it was not started; what
// else goes wrong is in the report.
func Run(ctx context.Context, config Config) (*Report, error) {
	r := &run{config: config, rings: map[string]bool{}}
	text, err := shim.ReadFile("shim/stubs.c")
	if err != nil {
		return nil, err
	}
	stubs, err := compile.Plain("stubs", string(text))
	if err != nil {
		return nil, err
	}
	if r.folder, err = os.MkdirTemp("", "opassert-preserve"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(r.folder)
	if config.Lines {
		if err := os.WriteFile(filepath.Join(r.folder, "lines"), nil, 0o600); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("unix", filepath.Join(r.folder, "socket"))
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	go r.accept(listener)

	cmd := exec.CommandContext(ctx, config.Command[0], config.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = config.Stdin, config.Stdout, config.Stderr
	preload := stubs
	if old := os.Getenv("LD_PRELOAD"); old != "" {
		preload += ":" + old
	}
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+preload, "OPASSERT_PRESERVE="+r.folder)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() { r.watch(ended, &reading) })
	err = cmd.Wait()
	close(ended)
	reading.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	if r.report.Processes == 0 && len(r.report.Troubles) == 0 {
		r.report.Troubles = append(r.report.Troubles, "nothing was watched: no process of the program loaded PyTorch's Python library")
	}
	r.report.Status = cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.report.Status = 128 + int(ws.Signal())
	}
	return &r.report, nil
}

// accept answers each process that has loaded libtorch_python with the tap that
// fits it.
func (r *run) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			library, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil {
				return
			}
			library = strings.TrimSuffix(library, "\n")
			if why, ok := strings.CutPrefix(library, "!"); ok {
				r.trouble(errors.New(why))
				fmt.Fprintln(conn)
				return
			}
			tap, err := fit(library)
			if err != nil {
				r.trouble(err)
			}
			fmt.Fprintln(conn, tap)
		}()
	}
}

// fit compiles the tap for a libtorch, or finds it in the cache.
func fit(library string) (string, error) {
	real, err := filepath.EvalSymlinks(library)
	if err != nil {
		return "", err
	}
	sources, err := fs.Sub(shim, "shim")
	if err != nil {
		return "", err
	}
	for _, file := range []string{library, real} {
		for dir := filepath.Dir(file); len(dir) > 1; dir = filepath.Dir(dir) {
			torch, err := installed.Inspect(dir)
			if err != nil || torch.Usable() != nil || torch.Lib != filepath.Dir(library) && torch.Lib != filepath.Dir(real) {
				continue
			}
			tap := compile.Library{Name: "tap", Files: []fs.FS{sources}, Unit: "tap.cpp", Link: []string{"-O2", "-ldl"}}
			return tap.Path(torch)
		}
	}
	return "", fmt.Errorf("%s belongs to no PyTorch that is known", library)
}

func (r *run) trouble(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Troubles = append(r.report.Troubles, err.Error())
}

// watch reads each ring that appears, until the program has ended.
func (r *run) watch(ended chan struct{}, reading *sync.WaitGroup) {
	look := func() {
		files, _ := filepath.Glob(filepath.Join(r.folder, "events.*"))
		for _, file := range files {
			pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Ext(file), "."))
			if err != nil || r.rings[file] {
				continue
			}
			r.rings[file] = true
			reading.Go(func() {
				if err := r.read(file, pid, ended); err != nil {
					r.trouble(err)
				}
			})
		}
	}
	for {
		look()
		select {
		case <-ended:
			look()
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// The ring's head; see tap.cpp.
const (
	ringHead   = 4096
	ringEvents = 1 << 16
	ringSize   = ringHead + ringEvents*eventSize
)

// read follows one process to its end.
func (r *run) read(file string, pid int, ended chan struct{}) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	ring, unmap, err := shared(f, ringSize)
	if err != nil {
		return err
	}
	defer unmap()
	head := (*uint64)(unsafe.Pointer(&ring[0]))
	tail := (*uint64)(unsafe.Pointer(&ring[8]))
	gone := (*uint32)(unsafe.Pointer(&ring[24]))
	j := newJudge(pid, binary.NativeEndian.Uint32(ring[20:]), func(f *Finding) { r.found(f, pid) })
	var log *logWriter
	if r.config.Log != nil {
		log = &logWriter{w: r.config.Log, mu: &r.logMu, judge: j}
	}
	over := false
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
			break
		}
		select {
		case <-ended:
			over = true
		case <-time.After(time.Millisecond):
			over = !lives(pid)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Events += j.number
	r.report.Processes++
	if atomic.LoadUint32(gone) != 0 {
		r.report.Lost++
	}
	return nil
}

func (r *run) found(f *Finding, pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Findings = append(r.report.Findings, f)
	if r.config.Found != nil {
		r.config.Found(f)
	}
	if r.config.Fail {
		terminate(pid)
	}
}

// Report returns the finding as text.
func (f *Finding) Report() string {
	what := "TensorImpl"
	if f.Storage {
		what = "StorageImpl"
	}
	s := fmt.Sprintf("%s %s  object %s %s, %s %s: event %d of process %d", f.Code, f.Code.Name(), f.Object, f.Type, what, f.Impl, f.Event, f.Process)
	s += "\n  saw     " + f.Saw
	if f.Site != "" {
		s += "\n  at      " + f.Site
	}
	if f.Made != "" {
		s += "\n  made    " + f.Made
	}
	if f.Root != nil {
		return s + fmt.Sprintf("\n  follows from %s at event %d", f.Root.Code, f.Root.Event)
	}
	return s + fmt.Sprintf("\n  rule    %s\n  breaks  %s\n  fix     %s", f.Code.Rule(), f.Code.Breaks(), f.Code.Fix())
}

// Summary returns the report's numbers in one line.
func (r *Report) Summary() string {
	roots := 0
	for _, f := range r.Findings {
		if f.Root == nil {
			roots++
		}
	}
	return fmt.Sprintf("%d violations (%d findings) in %d events of %d processes", len(r.Findings), roots, r.Events, r.Processes)
}

// ExitStatus returns the program's own status if it is not 0; else 2 if
// something was not watched, else 1 with findings.
func (r *Report) ExitStatus() int {
	switch {
	case r.Status != 0:
		return r.Status
	case len(r.Troubles) > 0 || r.Processes == 0 || r.Lost > 0:
		return 2
	case len(r.Findings) > 0:
		return 1
	}
	return 0
}

// A jsonFinding is a finding as the JSON array has it.
type jsonFinding struct {
	Code    string `json:"code"`
	Name    string `json:"name"`
	Process int    `json:"process"`
	Event   int64  `json:"event"`
	Object  string `json:"object"`
	Impl    string `json:"impl"`
	Type    string `json:"type,omitempty"`
	Storage bool   `json:"storage"`
	Thread  uint32 `json:"thread"`
	Saw     string `json:"saw"`
	Site    string `json:"site,omitempty"`
	Root    int64  `json:"root,omitempty"` // the event of the finding that it follows from
	Breaks  string `json:"breaks"`
	Fix     string `json:"fix"`
}

// JSON returns the findings as a value for encoding/json.
func (r *Report) JSON() any {
	all := make([]jsonFinding, len(r.Findings))
	for i, f := range r.Findings {
		all[i] = jsonFinding{
			f.Code.String(), f.Code.Name(), f.Process, f.Event, f.Object.String(), f.Impl.String(), f.Type, f.Storage, f.Thread,
			f.Saw, f.Site, 0, f.Code.Breaks(), f.Code.Fix(),
		}
		if f.Root != nil {
			all[i].Root = f.Root.Event
		}
	}
	return all
}
