package suite

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// WorkerVariable, when it is set in a process's environment, makes it a worker.
// It names the folder that the worker goes to: there are kernels that write
// files where they are.
const WorkerVariable = "OPASSERT_WORKER"

// ReplyFile is the number of the file that a worker answers on; its standard
// output is left to what kernels print.
const ReplyFile = 3

// A process is a worker as the run sees it.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies *os.File
	lines   chan string
	pid     int // of the worker itself, which something may watch
	stderr  *lastBytes
}

// startProcess starts a worker that goes to a folder, and waits until it is
// ready.
func startProcess(cmd *exec.Cmd, folder string, patience time.Duration) (*process, error) {
	p := &process{cmd: cmd, stderr: new(lastBytes)}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Environ(), WorkerVariable+"="+folder)
	cmd.ExtraFiles = []*os.File{write}
	cmd.Stderr = p.stderr
	keepSignalsFrom(cmd)
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	write.Close()
	p.replies = read
	p.lines = make(chan string, 64)
	go p.read()
	if !p.ready(patience) {
		p.stop()
		return nil, fmt.Errorf("a worker did not start: %s", p.stderr)
	}
	return p, nil
}

func (p *process) read() {
	lines := bufio.NewReaderSize(p.replies, 1<<16)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			close(p.lines)
			return
		}
		p.lines <- strings.TrimSuffix(line, "\n")
	}
}

// ready waits until the worker says that it is.
func (p *process) ready(patience time.Duration) bool {
	for {
		line, ok := p.next(patience)
		if !ok || strings.HasPrefix(line, lineDied) {
			return false
		}
		if rest, ok := strings.CutPrefix(line, lineReady+" "); ok {
			p.pid, _ = strconv.Atoi(rest)
			return true
		}
	}
}

// next gives the next line; false when there are no more, or when the worker
// has worked on it for longer than patience. It is the worker's own time that
// counts, since a busy machine makes every worker slow. One that sleeps, or
// whose time the system does not tell, gets three times as long by the clock.
func (p *process) next(patience time.Duration) (string, bool) {
	const looks = 10
	look := time.NewTicker(max(patience/looks, time.Millisecond))
	defer look.Stop()
	var begun time.Duration
	for n := range 3 * looks {
		select {
		case line, ok := <-p.lines:
			return line, ok
		case <-look.C:
		}
		worked := processTime(p.pid)
		if n == 0 {
			begun = worked
		} else if worked-begun >= patience {
			return "", false
		}
	}
	return "", false
}

// processTime gives the processor time that a process has taken, where the
// system has a /proc to tell it, or 0.
func processTime(pid int) time.Duration {
	const tick = time.Second / 100 // of utime and stime, whatever the kernel's own
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	after := bytes.LastIndexByte(text, ')') // the name before it may hold anything
	fields := bytes.Fields(text[after+1:])
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(string(fields[11]))
	system, _ := strconv.Atoi(string(fields[12]))
	return time.Duration(user+system) * tick
}

// kill ends the worker.
func (p *process) kill() {
	if w, err := os.FindProcess(p.pid); err == nil && p.pid > 0 {
		w.Kill()
	}
}

// renew puts a worker that has run nothing in the place of this one; false
// when nothing watches the worker and so there is none.
func (p *process) renew() bool {
	if p.pid == p.cmd.Process.Pid {
		return false
	}
	p.kill()
	for {
		line, ok := p.next(startup)
		if !ok {
			return false
		}
		if strings.HasPrefix(line, lineDied) {
			return p.ready(startup)
		}
	}
}

// stop ends the worker and what watches it.
func (p *process) stop() {
	p.in.Close()
	p.cmd.Process.Kill()
	p.kill()
	for range p.lines {
	}
	p.replies.Close()
	p.cmd.Wait()
}

// lastBytes keeps the end of what is written to it.
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

var signalText = regexp.MustCompile(`\bSIG[A-Z]{3,}\b`)

// cause tells from its last words, or else its exit status, what ended the
// worker.
func (p *process) cause(status string) string {
	text := p.stderr.String()
	if s := signalText.FindString(text); s != "" {
		return s
	}
	if containsAny(text, exhausted) {
		return outOfMemory
	}
	if status == "" {
		return "the worker ended"
	}
	return status
}

const outOfMemory = "out of memory"

// exhausted are last words of a process that got no memory: of Go's runtime,
// with the race detector and without, of C's, and of sanitizers.
var exhausted = []string{"out of memory", "address space collisions", "annot allocate memory", "failed to allocate"}
