package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/opassert/opassert/internal/procstat"
)

type pid int

// fieldTimes is the first time among the fields of a process's stat: utime, stime, and those of
// children that were waited for, cutime and cstime.
const fieldTimes = 11

// times returns the processor time of a process, and that of its children that were waited for; 0 without /proc.
func (p pid) times() (own, waited time.Duration) {
	const tick = time.Second / 100 // for every CONFIG_HZ
	fields := procstat.Of(int(p))
	if len(fields) < fieldTimes+4 {
		return 0, 0
	}
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(fields[fieldTimes+i])
	}
	return time.Duration(n[0]+n[1]) * tick, time.Duration(n[2]+n[3]) * tick
}

// does reports whether the state of a process or a thread, the first of its fields, is a letter.
func does(fields []string, letter string) bool { return len(fields) > 0 && fields[0] == letter }

func (p pid) stopped() bool { return does(procstat.Of(int(p)), "T") }

func (p pid) ended() bool { return does(procstat.Of(int(p)), "Z") }

// runnable reports whether a thread of a process runs, or waits for a processor.
func (p pid) runnable() bool {
	if does(procstat.Of(int(p)), "R") { // usually its first thread
		return true
	}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p))
	return slices.ContainsFunc(threads, func(file string) bool { return does(procstat.Read(file), "R") })
}

func (p pid) children() (all []pid) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for word := range strings.FieldsSeq(string(text)) {
			child, _ := strconv.Atoi(word)
			all = append(all, pid(child))
		}
	}
	return all
}

func (p pid) family() []pid {
	all := []pid{p}
	for _, child := range p.children() {
		all = append(append(all, child), child.children()...)
	}
	return all
}

// startedTime returns the processor time of all processes that a process has started.
func (p pid) startedTime() time.Duration {
	_, total := p.times()
	for _, child := range p.children() {
		own, _ := child.times()
		total += own + child.startedTime()
	}
	return total
}

// A workerSet is the set of processes in which the kernels of a run run. A sleeping one may wait for a
// process that another has started: for an extension that both need.
type workerSet struct{ sync.Map }

// startedTime returns the processor time of all processes that these have started.
func (w *workerSet) startedTime() (sum time.Duration) {
	w.Range(func(_, worker any) bool {
		sum += worker.(pid).startedTime()
		return true
	})
	return sum
}

// kernelChildren are the processes that kernels have started, such as a compiler.
type kernelChildren struct {
	time    func() time.Duration
	at, was time.Duration
}

// childTime is the time that the children of a call's kernel may take, in processor time.
const childTime = 5 * time.Minute

// work reports whether the children have worked since its last call.
func (k *kernelChildren) work() bool {
	if k.time == nil {
		return false
	}
	before := k.at
	k.at = k.time()
	return k.at > before && k.at-k.was < childTime
}

// lockNote is the prefix of a link to the lock of an extension that a worker builds, before the
// number of its process: see opassert_host/extension_locks.py.
const lockNote = "extension-"

// unlock removes the locks of processes that no longer exist.
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
