package suite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fields of a process's stat in /proc, counted from its state on.
const (
	fieldState = 0
	fieldTimes = 11 // utime, stime, and those of children that were waited for, cutime and cstime
)

// times returns the processor time that a process has taken, and that of its children
// that were waited for; 0 where the system has no /proc.
func times(pid int) (own, waited time.Duration) {
	const tick = time.Second / 100 // for every CONFIG_HZ
	fields := statFields(fmt.Sprintf("/proc/%d/stat", pid))
	if len(fields) < fieldTimes+4 {
		return 0, 0
	}
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(string(fields[fieldTimes+i]))
	}
	return time.Duration(n[0]+n[1]) * tick, time.Duration(n[2]+n[3]) * tick
}

func statFields(file string) [][]byte {
	text, _ := os.ReadFile(file)
	return bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // the name before it may hold anything
}

func state(file string) string {
	if fields := statFields(file); len(fields) > fieldState {
		return string(fields[fieldState])
	}
	return ""
}

// time returns the processor time that the worker has taken, or, before there is one, what
// loads libraries for it; 0 where that is not known.
func (p *process) time() (sum time.Duration) {
	var pids []int
	if p.worker != nil {
		pids = append(pids, p.worker.Pid)
	} else {
		pids = p.loading()
	}
	for _, pid := range pids {
		own, _ := times(pid)
		sum += own
	}
	return sum
}

// loading returns the processes that load libraries before there is a worker: the started
// one, what that has forked, and what that has.
func (p *process) loading() []int {
	pids := []int{p.cmd.Process.Pid}
	for _, child := range children(pids[0]) {
		pids = append(append(pids, child), children(child)...)
	}
	return pids
}

// stopped reports whether the worker waits to be continued.
func (p *process) stopped() bool {
	return p.worker != nil && state(fmt.Sprintf("/proc/%d/stat", p.worker.Pid)) == "T"
}

// runnable reports whether a thread of the worker has a processor, or waits for one.
func (p *process) runnable() bool {
	if p.worker == nil {
		return false
	}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.worker.Pid))
	return slices.ContainsFunc(threads, func(file string) bool { return state(file) == "R" })
}

// children returns what a process has started and not waited for.
func children(pid int) (pids []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for word := range strings.FieldsSeq(string(text)) {
			child, _ := strconv.Atoi(word)
			pids = append(pids, child)
		}
	}
	return pids
}

// startedTime returns the processor time of all that a process has started.
func startedTime(pid int) time.Duration {
	_, total := times(pid)
	for _, child := range children(pid) {
		own, _ := times(child)
		total += own + startedTime(child)
	}
	return total
}

// working holds the processes that kernels run in, by their workers. One that sleeps may
// wait for what another has started: for an extension that both call for.
var working sync.Map

// helpers are the processes that kernels have started, such as a compiler.
type helpers struct {
	time    func() time.Duration
	at, was time.Duration
}

// helping is how long the helpers of a call may take, in processor time.
const helping = 5 * time.Minute

// helpers returns those of all workers, and, before there is a worker, of what loads libraries
// for it.
func (p *process) helpers() helpers {
	total := func() (sum time.Duration) {
		working.Range(func(_, pid any) bool {
			sum += startedTime(pid.(int))
			return true
		})
		if p.worker == nil {
			sum += startedTime(p.cmd.Process.Pid) - p.time()
		}
		return sum
	}
	now := total()
	return helpers{total, now, now}
}

// work reports whether the helpers have worked since this was last called.
func (h *helpers) work() bool {
	if h.time == nil {
		return false
	}
	before := h.at
	h.at = h.time()
	return h.at > before && h.at-h.was < helping
}

// lockNote begins the name of a link to the lock of an extension that a worker builds, before
// the number of its process: see host/builds.py.
const lockNote = "extension-"

// unlock removes the locks that processes held which are gone.
func unlock(folder string) {
	links, _ := filepath.Glob(filepath.Join(folder, lockNote+"*"))
	for _, link := range links {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(link), lockNote), "-")
		lock, err := os.Readlink(link)
		if _, there := os.Stat("/proc/" + pid); there == nil || err != nil {
			continue
		}
		os.Remove(lock)
		os.Remove(link)
	}
}
