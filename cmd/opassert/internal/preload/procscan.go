package preload

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/procstat"
	"github.com/opassert/opassert/internal/slicesx"
)

// A procScan follows all processes of a program through /proc, and finds those that have loaded a target library
// without the library that fits it. It does not affect processes: they are not traced, and keep their parents.
type procScan struct {
	objects  []*SharedObject
	mark     programMark
	members  map[int]*programProcess
	foreign  map[int]bool   // processes of other programs
	commands map[int]string // the commands of all members
}

type programProcess struct {
	pid     int
	began   uint64 // the start time: numbers are reused
	image   uint64 // the start of its stack, which each exec changes
	size    uint64 // the size of its memory, at the last inspection
	command string
	watched bool            // needs no more inspection
	changes bool            // its mappings change while its size may not
	unseen  []*SharedObject // objects that had not noticed their target at the last inspection
}

func (m *programProcess) String() string { return fmt.Sprintf("process %d (%s)", m.pid, m.command) }

func newProcScan(program int, m programMark, objects []*SharedObject) *procScan {
	first := &programProcess{pid: program, began: readStat(program).began}
	return &procScan{objects: objects, mark: m, members: map[int]*programProcess{program: first},
		foreign: make(map[int]bool), commands: make(map[int]string)}
}

// follow scans until the program has ended: often, as processes may be short, but with little processor time.
func (c *procScan) follow(ended <-chan struct{}) {
	const (
		shortest = 50 * time.Millisecond // no process loads a libtorch in less
		longest  = 250 * time.Millisecond
		share    = 100
	)
	for {
		begun := time.Now()
		c.scan()
		select {
		case <-ended:
			c.scan()
			return
		case <-time.After(min(max(shortest, share*time.Since(begun)), longest)):
		}
	}
}

func (c *procScan) scan() {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	there := make(map[int]bool, len(entries))
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			there[pid] = true
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(there)) {
		if !c.foreign[pid] {
			c.meet(pid)
		}
	}
	maps.DeleteFunc(c.foreign, func(pid int, _ bool) bool { return !there[pid] })
	maps.DeleteFunc(c.members, func(pid int, m *programProcess) bool {
		if there[pid] {
			return false
		}
		m.ended()
		return true
	})
}

// ended reports a target library that was in a process until its end, and for which
// the object has not asked. The time that a process takes to load one proves nothing.
func (m *programProcess) ended() {
	for _, o := range m.unseen {
		o.mu.Lock()
		connected := o.heard[m.pid]
		o.mu.Unlock()
		if !connected {
			o.NotWatched(fmt.Sprintf("%v has loaded %s in a way that opassert does not notice", m, o.kind.Library))
		}
	}
	m.unseen = nil
}

func (c *procScan) meet(pid int) {
	s, m := readStat(pid), c.members[pid]
	switch {
	case s.began == 0:
		return
	case s.ended && m != nil:
		m.ended()
		return
	case s.ended: // or one of the kernel's
		c.foreign[pid] = true
		return
	case m != nil && (m.began != s.began || m.image != s.image):
		m.ended()
	}
	if m == nil || m.began != s.began {
		if !c.belongs(pid, s) {
			c.foreign[pid] = true
			delete(c.members, pid)
			return
		}
		m = &programProcess{pid: pid, began: s.began}
		c.members[pid] = m
	}
	if m.image != s.image || m.command == "" {
		*m = programProcess{pid: pid, began: s.began, image: s.image, command: command(pid)}
		c.commands[pid] = m.command
	}
	c.inspect(m, s)
}

// belongs reports whether a process belongs to the program: it has the mark, its parent belongs to it, or, if that
// has ended and there is no mark, its environment has the variable.
func (c *procScan) belongs(pid int, s stat) bool {
	if c.mark.on(pid) {
		return true
	}
	for p := s.parent; p > 1 && !c.foreign[p]; p = readStat(p).parent {
		if c.members[p] != nil {
			return true
		}
	}
	if c.mark != 0 {
		return false
	}
	env, _ := os.ReadFile(proc(pid, "environ"))
	return slices.ContainsFunc(c.objects, func(o *SharedObject) bool { return bytes.Contains(env, []byte(o.secret)) })
}

// The memory sizes from which on a process may have a libtorch: if its memory can be inspected, and if not.
const (
	smallest = 32 << 20
	large    = 100 << 20
)

// inspect checks that a process has the objects.
func (c *procScan) inspect(m *programProcess, s stat) {
	if m.watched || s.size < smallest || s.size == m.size && !m.changes {
		return
	}
	m.size = s.size
	memory, err := os.ReadFile(proc(m.pid, "maps"))
	if errors.Is(err, fs.ErrPermission) && s.size >= large {
		c.notWatched(m, "may have loaded libtorch: it runs with other privileges, and opassert can't inspect it")
	}
	if err != nil || !bytes.Contains(memory, []byte("[stack]")) { // the mappings of a process that ends are incomplete
		return
	}
	m.watched, m.changes, m.unseen = true, false, nil
	for _, o := range c.objects {
		switch o.found(memory) {
		case fitted:
		case absent:
			m.watched = false
		case loading:
			m.watched, m.changes = false, true
		case incomplete:
			m.watched, m.changes, m.unseen = false, true, append(m.unseen, o)
		case unreached:
			o.NotWatched(fmt.Sprintf("%v has loaded %s, and could not reach opassert", m, o.kind.Library))
		case without:
			o.NotWatched(fmt.Sprintf("%v has loaded %s, and not opassert's object: %s", m, o.kind.Library, why(m.pid)))
		}
	}
}

// A presence describes what a process has of an object.
type presence int

const (
	absent     presence = iota // no target library
	fitted                     // a target library, and the one that fits it
	loading                    // a target library, and an object that is loading or has not started
	incomplete                 // a target library without the one that fits it, in the program's own code
	unreached                  // a target library, and an object that could not reach opassert
	without                    // a target library, and no object
)

// found reads the mappings of a process: code of the target library, as a linker maps it too, and the object.
func (o *SharedObject) found(memory []byte) presence {
	var library, object, begun, marked, works bool
	for line := range bytes.Lines(memory) {
		switch {
		case bytes.Contains(line, []byte("/"+o.kind.Library)):
			library = library || bytes.Contains(line, []byte("-xp "))
		case bytes.Contains(line, []byte(filepath.Base(o.file))), bytes.Contains(line, []byte(o.copy())):
			object = true
			begun = begun || bytes.Contains(line, []byte(" ---s "))
			marked = marked || bytes.Contains(line, []byte(" -w-p ")) // the pages of preload.h
			works = works || bytes.Contains(line, []byte(" --xp "))
		}
	}
	switch {
	case !library:
		return absent
	case marked:
		return unreached
	case o.fits(memory):
		return fitted
	case works, object && !begun:
		return loading
	case object:
		return incomplete
	}
	return without
}

// fits reports whether a process has the fitting library.
func (o *SharedObject) fits(memory []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(slices.Collect(maps.Values(o.fitted)), func(file string) bool {
		return file != "" && bytes.Contains(memory, []byte("/"+filepath.Base(file)))
	})
}

func (c *procScan) notWatched(m *programProcess, what string) {
	for _, o := range c.objects {
		o.NotWatched(fmt.Sprintf("%v %s", m, what))
	}
}

func why(pid int) string {
	const atSecure = 23
	auxv, _ := os.ReadFile(proc(pid, "auxv"))
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.NativeEndian.Uint64(auxv) == atSecure && binary.NativeEndian.Uint64(auxv[8:]) != 0 {
			return "it runs with more privileges than its caller, which disables LD_PRELOAD"
		}
	}
	if root, err := os.Readlink(proc(pid, "root")); err == nil && root != "/" {
		return "it is not in its root folder " + root
	}
	env, err := os.ReadFile(proc(pid, "environ"))
	switch {
	case err != nil:
		return "it ended before opassert could find out why"
	case !bytes.Contains(append([]byte{0}, env...), []byte("\x00LD_PRELOAD=")):
		return "it was started without LD_PRELOAD in its environment, and not through libc"
	}
	return "the loader has ignored LD_PRELOAD"
}

// await waits, for a limited time, for processes that outlive the program. It returns those that still run and have
// nothing to watch, and records the others as not watched.
func (c *procScan) await(talk io.Writer, stop <-chan os.Signal) (left []string) {
	began, said := time.Now(), false
	for c.scan(); ; c.scan() {
		all, wait := c.running(), 10*time.Second
		if slices.ContainsFunc(all, c.mayCall) {
			wait = time.Minute
		}
		if len(all) == 0 || time.Since(began) > wait {
			break
		}
		if !said && time.Since(began) > time.Second {
			said = true
			left := slicesx.Join(all, ", ", (*programProcess).String)
			printable.Printf(talk, "opassert: the program has ended, and left running: %s; waiting for at most %v\n", left, wait)
		}
		select {
		case <-stop:
			began = time.Time{}
		case <-time.After(50 * time.Millisecond):
		}
	}
	for _, m := range c.running() {
		if c.mayCall(m) {
			c.notWatched(m, "still runs: from now on it is not watched")
		} else {
			left = append(left, m.String())
		}
	}
	return left
}

// mayCall reports whether a process has something to watch, or runs Python, which may load libtorch at any time.
func (c *procScan) mayCall(m *programProcess) bool {
	program, _ := os.Readlink(proc(m.pid, "exe"))
	memory, _ := os.ReadFile(proc(m.pid, "maps"))
	return strings.HasPrefix(filepath.Base(program), "python") || bytes.Contains(memory, []byte("/libpython")) ||
		slices.ContainsFunc(c.objects, func(o *SharedObject) bool { return o.found(memory) != absent })
}

func (c *procScan) running() []*programProcess {
	all := slices.SortedFunc(maps.Values(c.members), func(a, b *programProcess) int { return cmp.Compare(a.pid, b.pid) })
	return slices.DeleteFunc(all, func(m *programProcess) bool { return readStat(m.pid).ended })
}

// A stat has the facts about a process that every user may read.
type stat struct {
	ended              bool // it has no memory any more
	parent             int
	began, size, image uint64 // image is 0 if the process can't be inspected
}

// readStat returns the zero stat for an absent process.
func readStat(pid int) (s stat) {
	fields := procstat.Of(pid) // from the third on
	if len(fields) < 26 {
		return stat{ended: true}
	}
	number := func(i int) uint64 {
		n, _ := strconv.ParseUint(fields[i-3], 10, 64)
		return n
	}
	return stat{ended: number(23) == 0, parent: int(number(4)), began: number(22), size: number(23), image: number(28)}
}

// Lives reports whether a process has not ended, or was not waited for.
func Lives(pid int) bool { return readStat(pid).began != 0 }

// A programMark identifies the processes of a program: a limit of their real-time timeout, too large to matter; 0 means
// no mark. The kernel inherits it at each fork and exec, also when a process loses its parent and its environment.
type programMark uint64

func (m programMark) on(pid int) bool {
	limits, _ := os.ReadFile(proc(pid, "limits"))
	_, rest, _ := strings.Cut(string(limits), "\nMax realtime timeout ")
	fields := strings.Fields(rest)
	return m != 0 && len(fields) > 0 && fields[0] == strconv.FormatUint(uint64(m), 10)
}

// command returns the beginning of a process's command line, for reports.
func command(pid int) string {
	const most = 200
	text, _ := os.ReadFile(proc(pid, "cmdline"))
	words := strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
	if words == "" {
		text, _ = os.ReadFile(proc(pid, "comm"))
		words = strings.TrimSpace(string(text))
	}
	if len(words) > most {
		return strings.ToValidUTF8(words[:most], "") + "..."
	}
	return words
}

func proc(pid int, file string) string { return filepath.Join("/proc", strconv.Itoa(pid), file) }
