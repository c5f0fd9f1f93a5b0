package suite

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A process is a worker as the run sees it.
type process struct {
	cmd         *exec.Cmd
	folder      string // its working folder
	in, replies *os.File
	lines       chan string
	ended       chan struct{} // closed when the started process has ended
	worker      *os.Process   // the worker itself, which the started process may have forked
	died        bool          // the worker's watcher has reported its death
	last        string        // how it died
	refusal     error         // why it cannot start, in its own words
	loads       []string      // the libraries that it loads before it is ready, "" after the last
	stderr      *lastBytes
	workers     *workerSet // the run's

	op string // of the last request
}

// startup is a third of the time that a worker may take to start.
const startup = 20 * time.Second

// startProcess starts a worker in a folder, and waits until it is ready; after one that is killed it starts another.
func startProcess(worker func() *exec.Cmd, folder string, all *workerSet, patience time.Duration) (*process, error) {
	p, err := startOnce(worker(), folder, all, patience)
	if wasKilled(err) {
		p, err = startOnce(worker(), folder, all, patience)
	}
	return p, err
}

func startOnce(cmd *exec.Cmd, folder string, workers *workerSet, patience time.Duration) (*process, error) {
	// Two folders: otherwise a kernel that changes to that of temporary files would change nothing.
	working, temporary := filepath.Join(folder, "working"), filepath.Join(folder, "temporary")
	for _, f := range []string{working, temporary} {
		if err := os.MkdirAll(f, 0o777); err != nil { // a kernel of the previous worker may have removed it
			return nil, fmt.Errorf("start a worker: %w", err)
		}
	}
	p := &process{cmd: cmd, folder: working, workers: workers, stderr: new(lastBytes), lines: make(chan string, 64),
		ended: make(chan struct{})}
	cmd.Env = append(cmd.Environ(), WorkerVariable+"="+working, "TMPDIR="+temporary)
	cmd.Stdout, cmd.Stderr = p.stderr, p.stderr
	cmd.WaitDelay = farewell // for processes that hold its output open
	keepSignalsFrom(cmd)
	key := rand.Text()
	if err := p.begin(key); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	go p.read(key)
	go p.wait()
	if !p.ready(patience) {
		return nil, p.silent()
	}
	return p, nil
}

// begin starts the process with its files, whose other ends the run has.
func (p *process) begin(key string) (err error) {
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			p.in.Close() // or nil
			p.replies.Close()
		}
	}()
	requests, in, err := os.Pipe()
	if err != nil {
		return err
	}
	p.in, theirs = in, append(theirs, requests)
	mine, answers, err := replyFiles()
	if err != nil {
		return err
	}
	p.replies, theirs = mine, append(theirs, answers)
	keys, keyIn, err := os.Pipe()
	if err != nil {
		return err
	}
	defer keyIn.Close()
	theirs = append(theirs, keys)
	if _, err := keyIn.WriteString(key); err != nil {
		return err
	}
	p.cmd.Stdin, p.cmd.ExtraFiles = requests, []*os.File{replyFile - 3: answers, keyFile - 3: keys}
	return p.cmd.Start()
}

// lastLines limits the time for reading a worker's output after its end: a kernel's process may hold its files open.
const lastLines = time.Second

func (p *process) wait() {
	p.cmd.Wait()
	close(p.ended)
	p.replies.SetReadDeadline(time.Now().Add(lastLines))
}

// errKilled is the error of a worker that was killed before it had a request.
var errKilled = errors.New(killed)

// killed is the cause of the end of a worker that was killed: seldom by a kernel.
const killed = "SIGKILL"

// wasKilled reports whether a worker was killed, from outside or by the library that it loaded.
func wasKilled(err error) bool {
	load, ok := errors.AsType[*engine.LoadError](err)
	return errors.Is(err, errKilled) || ok && load.Why == killed
}

// silent ends a worker that did not start, and returns the error.
func (p *process) silent() error {
	crash := new(ending)
	why, err := fmt.Sprintf("still busy after %v of processor time, or idle after %v", startup, 3*startup), p.refusal
	if err == nil && (p.died || p.over()) {
		err = p.explain(crash, p.status())
		why = crash.Cause
	}
	p.stop() // so that its output is complete
	last := len(p.loads) - 1
	loading := last >= 0 && p.loads[last] != ""
	switch {
	case crash.outside && loading:
		return &engine.LoadError{Library: p.loads[last], Why: killed}
	case crash.outside:
		return fmt.Errorf("a worker did not start: %w", errKilled)
	case err != nil && !loading:
		return err
	case err != nil: // such as through a library that closes files or writes to them
		return &engine.LoadError{Library: p.loads[last], Why: sample.Line(err.Error()) + p.wrote().after(last, len(p.loads))}
	}
	if wrote := p.wrote().after(last, len(p.loads)); !strings.Contains(wrote, why) { // a panic is in its output
		why += wrote
	}
	if loading {
		return &engine.LoadError{Library: p.loads[last], Why: why}
	}
	return fmt.Errorf("a worker did not start: %s", why)
}

// written holds the output of a worker: before it loaded libraries, while it loaded the first, and so on.
type written []string

// wrote waits for all output that the worker wrote before it last named a library that it loads.
func (p *process) wrote() written {
	var parts written
	for range 100 {
		if parts = strings.Split(p.stderr.String(), loadMark); len(parts) > len(p.loads) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return parts
}

// after formats the output from loading number i of n libraries, or from before with i = -1, without a long beginning.
func (w written) after(i, n int) string {
	if i += len(w) - n; i < 0 || i >= len(w) || strings.TrimSpace(w[i]) == "" {
		return ""
	}
	return ": " + sample.Clip(w[i])
}

func (p *process) status() string {
	if p.died {
		return p.last
	}
	select {
	case <-p.ended:
		return strings.Replace(p.cmd.ProcessState.String(), "signal: killed", killed, 1)
	case <-time.After(lastWords):
		return "it closed the file of its replies"
	}
}

func (p *process) read(key string) {
	defer close(p.lines)
	in := bufio.NewReaderSize(p.replies, 1<<16)
	for {
		line, err := readLine(in, key)
		if err != nil {
			return
		}
		p.lines <- line
	}
}

func (p *process) ready(patience time.Duration) bool {
	for {
		line, ok := p.next(patience)
		switch word, rest, _ := strings.Cut(line, " "); word {
		case lineReady:
			g := parseGreeting(rest)
			p.worker, _ = os.FindProcess(g.kernels)
			p.refusal = g.understood()
			p.workers.Store(p, pid(p.worker.Pid))
			return p.refusal == nil
		case lineLoad:
			library, _ := strconv.Unquote(rest)
			p.loads = append(p.loads, library)
		case lineFault:
			p.refusal = ownFault(rest)
		case lineForeign:
			p.refusal = foreign(rest)
		}
		if !ok || p.died || p.refusal != nil {
			return false
		}
	}
}

// next returns the next line; false if there are no more, or if the worker has used more processor time than patience:
// on a busy machine every worker is slow by the clock. A worker that sleeps, or whose processor time is unknown, has
// three times as long by the clock, and again while processes that kernels started work.
func (p *process) next(patience time.Duration) (string, bool) {
	select {
	case line, ok := <-p.lines:
		return p.noteDeath(line, ok)
	default:
	}
	const looks = 10
	look := time.NewTicker(max(patience/looks, time.Millisecond))
	defer look.Stop()
	begun, worked := time.Duration(-1), time.Duration(-1)
	var children kernelChildren
	for asleep := 0; asleep < 3*looks; asleep++ {
		select {
		case line, ok := <-p.lines:
			return p.noteDeath(line, ok)
		case <-look.C:
		}
		before := worked
		worked = p.time()
		switch {
		case begun < 0:
			begun = worked
		case worked-begun >= patience:
			return "", false
		case worked > before || worked > 0 && slices.ContainsFunc(p.pids(), pid.runnable):
			asleep = 0
		case asleep >= looks && children.time == nil:
			children = p.kernelChildren()
		case asleep == 3*looks-1 && children.work():
			asleep = 0
		}
	}
	return "", false
}

// pids returns the worker, or, before there is one, the processes that load libraries for it.
func (p *process) pids() []pid {
	if p.worker != nil {
		return []pid{pid(p.worker.Pid)}
	}
	return pid(p.cmd.Process.Pid).family()
}

// childEnded reports whether a process that the worker has started has ended, and the worker has not
// noticed: if that was its device, it waits for an answer forever.
func (p *process) childEnded() bool {
	return slices.ContainsFunc(p.pids(), func(id pid) bool { return slices.ContainsFunc(id.children(), pid.ended) })
}

func (p *process) time() (sum time.Duration) {
	for _, id := range p.pids() {
		own, _ := id.times()
		sum += own
	}
	return sum
}

// kernelChildren returns those of all workers, and, before there is a worker, those of what loads libraries for it.
func (p *process) kernelChildren() kernelChildren {
	total := func() time.Duration {
		sum := p.workers.startedTime()
		if p.worker == nil {
			sum += pid(p.cmd.Process.Pid).startedTime() - p.time()
		}
		return sum
	}
	now := total()
	return kernelChildren{total, now, now}
}

func (p *process) noteDeath(line string, ok bool) (string, bool) {
	if status, died := strings.CutPrefix(line, lineDied+" "); died {
		p.died, p.last = true, status
	}
	return line, ok
}

func (p *process) kill() {
	if p.worker != nil {
		p.worker.Kill()
	}
}

// renew replaces this worker by one that has run nothing, unless it has run nothing itself; it
// returns false if nothing watches the worker, so that no other one starts.
func (p *process) renew() bool {
	if p.op == "" {
		return true
	}
	for !p.died {
		p.kill()
		if _, ok := p.next(startup); !ok {
			return false
		}
	}
	return p.awaitReplacement()
}

func (p *process) awaitReplacement() bool {
	p.died, p.op = false, ""
	unlock(p.folder)
	return p.ready(startup)
}

// farewell is the time that the watcher of a worker has to end it.
const farewell = 5 * time.Second

// stop ends the worker, its watcher, and kernels' processes. The watcher notices that the requests have no writer.
func (p *process) stop() {
	p.workers.Delete(p)
	p.in.Close()
	wakeGroup(p.cmd.Process)
	p.kill()
	select {
	case <-p.ended:
	case <-time.After(farewell):
		p.cmd.Process.Kill()
	}
	killGroup(p.cmd.Process)
	p.replies.Close()
	for range p.lines {
	}
	<-p.ended
	unlock(p.folder)
}

// lastBytes is a writer that retains the last bytes written to it.
type lastBytes struct {
	mu   sync.Mutex
	data []byte
}

func (l *lastBytes) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = append(l.data, b...)
	if over := len(l.data) - 1<<16; over > 0 {
		l.data = bytes.Clone(l.data[over:])
	}
	return len(b), nil
}

func (l *lastBytes) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.data))
}

func (l *lastBytes) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = nil
}

// explain fills in the cause of the worker's end, from its last output or else its exit status; or
// it returns a fault of opassert itself, which is reported as such.
func (p *process) explain(crash *ending, status string) error {
	text := p.stderr.String()
	for range 20 { // the Go run time writes before it exits, and the pipe is slower than the status
		if text != "" || status != goExit {
			break
		}
		time.Sleep(10 * time.Millisecond)
		text = p.stderr.String()
	}
	switch first, trace, isGo := goTrace(text); {
	case strings.HasPrefix(status, "SIG"):
		crash.Cause, crash.outside = status, status == killed
	case design.ContainsAny(text, exhausted):
		crash.Cause = report.OutOfMemory
	case isGo && len(trace) > 0 && !strings.HasPrefix(trace[0], ours):
		crash.Cause, crash.Frames = first, trace
	case isGo && (strings.HasPrefix(first, "panic: ") || ownFatal.MatchString(first)):
		return errors.New(text)
	case isGo:
		crash.Cause = first
	case signalText.MatchString(text):
		crash.Cause = signalText.FindString(text)
	case status == "":
		crash.Cause = "the worker ended"
	default:
		crash.Cause = status
	}
	return nil
}

// goExit is the status of a Go program that panicked.
const goExit = "exit status 2"

// ownFatal matches those fatal errors of Go's run time that do not indicate broken memory: Go code is to blame. For
// others it is a kernel that overwrote the run time's memory, in this call or an earlier one.
var ownFatal = regexp.MustCompile(
	`^fatal error: (all goroutines are asleep|no goroutines|concurrent map|sync: |stack overflow)`)

var signalText = regexp.MustCompile(`\bSIG[A-Z]{3,}\b`)

// goTrace parses the Go runtime's report of a panic, or of a fatal error except for a signal that
// arrived while a kernel ran: its first line, and the functions of its goroutine, innermost first.
func goTrace(text string) (first string, trace []string, ok bool) {
	_, stack, _ := strings.Cut(text, "[running]:\n")
	for line := range strings.Lines(text) {
		fatal := strings.HasPrefix(line, "fatal error: ") && !strings.HasPrefix(line, "fatal error: unexpected signal")
		if ok = fatal || strings.HasPrefix(line, "panic: "); ok {
			first = strings.TrimSpace(line)
			break
		}
	}
	for line := range strings.Lines(stack) {
		switch name := line[:max(0, strings.LastIndexByte(line, '('))]; {
		case strings.TrimSpace(line) == "":
			return first, trace, ok
		case name == "" || line[0] == '\t' || strings.HasPrefix(name, "runtime.") || name == "panic":
		default:
			trace = append(trace, strings.TrimPrefix(name, "created by "))
		}
	}
	return first, trace, ok
}

// exhausted are last words of a process that got no memory: of Go, with the race detector or not, C and sanitizers.
var exhausted = []string{"out of memory", "address space collisions", "annot allocate memory", "failed to allocate"}

func (p *process) send(q request) {
	q.Worker = p.worker.Pid
	p.in.SetWriteDeadline(time.Now().Add(startup)) // it may have been stopped
	json.NewEncoder(p.in).Encode(q)
}

// over reports whether the worker has closed its replies, and so has ended.
func (p *process) over() bool {
	select {
	case _, open := <-p.lines:
		return !open
	default:
		return false
	}
}

// lastWords is the time that a hanging worker may take to report its stack.
const lastWords = 2 * time.Second

// interrupt asks a hanging worker for its stack, which ends it.
func (p *process) interrupt() (frames []string) {
	abort(p.worker)
	for {
		line, ok := p.next(lastWords)
		frame, isFrame := strings.CutPrefix(line, lineFrame+" ")
		if !ok || !isFrame {
			return frames
		}
		frames = append(frames, frame)
	}
}
