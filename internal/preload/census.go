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
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/opassert/opassert/internal/loop"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/procstat"
)

// A census follows all processes of a program through /proc, and finds those
// that have loaded a library which an object looks into, without the library
// that fits it. It touches no process: one is not traced, and keeps its parent.
type census struct {
	objects  []*Object
	mark     mark
	members  map[int]*member
	foreign  map[int]bool   // processes that are not the program's
	commands map[int]string // of all that were members

	before, last int // the process or thread that was started last, at the last two looks
}

// A member is a process of the program.
type member struct {
	pid     int
	began   uint64 // when it began: a number comes again
	image   uint64 // where its stack begins, which is elsewhere after each exec
	size    uint64 // of its memory, when that was last looked at
	command string
	watched bool      // nothing more is to be looked for
	changes bool      // what is in it changes while its size may not
	unseen  []*Object // those that have not seen what they look into, when it was last looked at
}

func (m *member) String() string { return fmt.Sprintf("process %d (%s)", m.pid, m.command) }

func newCensus(program int, m mark, objects []*Object) *census {
	c := &census{objects: objects, mark: m, members: make(map[int]*member), foreign: make(map[int]bool), commands: make(map[int]string)}
	c.members[program] = &member{pid: program, began: readStat(program).began}
	return c
}

// follow looks until the program has ended: often, for a process may be short,
// but almost all of the time of a processor is the program's.
func (c *census) follow(ended <-chan struct{}) {
	const (
		often  = 50 * time.Millisecond // in less none loads a libtorch
		seldom = 250 * time.Millisecond
		share  = 100
		all    = time.Second // at most between looks at every process
	)
	for begun := time.Now(); ; {
		looked, last := time.Now(), lastStarted()
		if looked.Sub(begun) > all || !c.counts(last) {
			begun = looked
			c.look()
		} else {
			c.lookAtStarted(last)
		}
		c.before, c.last = c.last, last
		select {
		case <-ended:
			c.look()
			return
		case <-time.After(min(max(often, share*time.Since(looked)), seldom)):
		}
	}
}

// lastStarted returns the number of the process or thread of this machine that was
// started last, 0 where that is not known.
func lastStarted() int {
	fields := strings.Fields(string(readShort("/proc/loadavg")))
	last, _ := strconv.Atoi(strings.Join(fields[max(0, len(fields)-1):], ""))
	return last
}

// counts reports whether the numbers up to the last one are those of all that were started since: they
// rise until they begin again. It takes no longer to look at every process than at as many.
func (c *census) counts(last int) bool {
	return c.before > 0 && c.before <= c.last && c.last <= last && last-c.before <= len(c.foreign)+len(c.members)
}

// lookAtStarted looks at the processes that were started since, and at those of the program
// that are not watched yet. A number is given before the process is there: those of the look before
// come again.
func (c *census) lookAtStarted(last int) {
	for pid := c.before + 1; pid <= last; pid++ {
		if pid > c.last {
			delete(c.foreign, pid) // it was that of another
		}
		if !c.foreign[pid] {
			c.meet(pid)
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(c.members)) {
		if !c.members[pid].watched {
			c.meet(pid)
		}
	}
}

// look looks at every process there is.
func (c *census) look() {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	there := make(map[int]bool, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			there[pid] = true
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(there)) {
		if !c.foreign[pid] {
			c.meet(pid)
		}
	}
	maps.DeleteFunc(c.foreign, func(pid int, _ bool) bool { return !there[pid] })
	maps.DeleteFunc(c.members, func(pid int, m *member) bool {
		if there[pid] {
			return false
		}
		m.ended()
		return true
	})
}

// ended reports a library that was in a process until that ended, and for which
// its object has not asked. How long a process takes to load one proves nothing.
func (m *member) ended() {
	for _, o := range m.unseen {
		if !o.hasHeard(m.pid) {
			o.NotWatched(fmt.Sprintf("%v has loaded %s in a way that opassert does not see", m, o.kind.Library))
		}
	}
	m.unseen = nil
}

func (c *census) meet(pid int) {
	s := readStat(pid)
	if s.began == 0 {
		return
	}
	m := c.members[pid]
	if s.ended && m != nil {
		m.ended()
		return
	}
	if s.ended { // or one of the kernel's
		c.foreign[pid] = true
		return
	}
	if m != nil && (m.began != s.began || m.image != s.image) {
		m.ended()
	}
	if m == nil || m.began != s.began {
		if !c.descends(pid, s) {
			c.foreign[pid] = true
			delete(c.members, pid)
			return
		}
		m = &member{pid: pid, began: s.began}
		c.members[pid] = m
	}
	if m.image != s.image || m.command == "" {
		*m = member{pid: pid, began: s.began, image: s.image, command: command(pid)}
		c.commands[pid] = m.command
	}
	c.inspect(m, s)
}

// descends reports whether a process has been started by the program: it has the mark,
// its parent has been, or, where that has ended and there is no mark, its environment
// says so.
func (c *census) descends(pid int, s stat) bool {
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
	return slices.ContainsFunc(c.objects, func(o *Object) bool { return bytes.Contains(env, []byte(o.secret)) })
}

// The sizes from which on a process may have a libtorch in its memory: where
// that can be looked into, and where not.
const (
	smallest = 32 << 20
	large    = 100 << 20
)

// inspect checks that a process has the objects that it should have.
func (c *census) inspect(m *member, s stat) {
	if m.watched || s.size < smallest || s.size == m.size && !m.changes {
		return
	}
	m.size = s.size
	memory, err := os.ReadFile(proc(m.pid, "maps"))
	if errors.Is(err, fs.ErrPermission) && s.size >= large {
		c.notWatched(m, "may have loaded libtorch: it runs with other privileges, and opassert can't look into it")
	}
	if err != nil || !bytes.Contains(memory, []byte("[stack]")) { // what ends meanwhile shows a part of it
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

// A presence is what of an object's is in a process.
type presence int

const (
	absent     presence = iota // nothing that it looks into
	fitted                     // a library, and what fits it
	loading                    // a library, and an object that is at work or has not begun
	incomplete                 // a library, and not what fits it, in the program's own code
	unreached                  // a library, and an object that could not reach opassert
	without                    // a library, and no object
)

// found reads the maps of a process: code of the library, for a linker maps it
// as well, and the object.
func (o *Object) found(memory []byte) presence {
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

// fits reports whether a process has the library that fits.
func (o *Object) fits(memory []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, file := range o.fitted {
		if file != "" && bytes.Contains(memory, []byte("/"+filepath.Base(file))) {
			return true
		}
	}
	return false
}

// hasHeard reports whether a process has reached opassert through the object.
func (o *Object) hasHeard(pid int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.heard[pid]
}

func (c *census) notWatched(m *member, what string) {
	for _, o := range c.objects {
		o.NotWatched(fmt.Sprintf("%v %s", m, what))
	}
}

// why returns the reason why a process has no object.
func why(pid int) string {
	const atSecure = 23
	auxv, _ := os.ReadFile(proc(pid, "auxv"))
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.NativeEndian.Uint64(auxv) == atSecure && binary.NativeEndian.Uint64(auxv[8:]) != 0 {
			return "it runs with privileges that its caller has not, where LD_PRELOAD is left out"
		}
	}
	if root, err := os.Readlink(proc(pid, "root")); err == nil && root != "/" {
		return "it is not in its root folder " + root
	}
	env, err := os.ReadFile(proc(pid, "environ"))
	switch {
	case err != nil:
		return "it ended before opassert could see why"
	case !bytes.Contains(append([]byte{0}, env...), []byte("\x00LD_PRELOAD=")):
		return "it was started without LD_PRELOAD in its environment, and not through libc"
	}
	return "the loader has left LD_PRELOAD out"
}

// The limit of waiting for processes that outlive the program, in time of their own:
// those that have something to watch or may have, and others. A machine that is busy
// may take mostWait until they have had it.
const (
	longestWait = 30 * time.Second
	shortWait   = 10 * time.Second
	mostWait    = 5 * time.Minute
)

// await waits for processes that outlive the program, but not for ever, and
// returns those that still run and have nothing to watch. The others are recorded
// as not watched.
func (c *census) await(talk io.Writer, stop <-chan os.Signal) (left []string) {
	began, said, own := time.Now(), false, make(clocks)
	for c.look(); ; c.look() {
		all, wait := c.running(), shortWait
		if slices.ContainsFunc(all, c.mayCall) {
			wait = longestWait
		}
		if len(all) == 0 || own.passed(all, time.Now()) > wait || time.Since(began) > mostWait {
			break
		}
		if !said && time.Since(began) > time.Second {
			said = true
			printable.Printf(talk, "opassert: the program has ended, and left running: %s; waiting for at most %v\n", join(all), wait)
		}
		select {
		case <-stop:
			began = time.Time{}
		case <-time.After(50 * time.Millisecond):
		}
	}
	for _, m := range c.running() {
		if c.mayCall(m) {
			c.notWatched(m, "still runs: what it does from now on is not watched")
		} else {
			left = append(left, m.String())
		}
	}
	return left
}

// clocks are how long processes have run or slept: one that waits for a processor or a
// disk comes no nearer to its end.
type clocks map[int]*clock

type clock struct {
	passed time.Duration
	looked time.Time
	used   time.Duration // of processors, when it was last looked at
}

// passed advances the clocks of processes, and returns the time of the slowest.
func (own clocks) passed(all []*member, now time.Time) time.Duration {
	least := time.Duration(math.MaxInt64)
	for _, m := range all {
		least = min(least, own.advance(m.pid, readStat(m.pid), now))
	}
	return least
}

func (own clocks) advance(pid int, s stat, now time.Time) time.Duration {
	c := own[pid]
	if c == nil {
		c = &clock{looked: now, used: s.used}
		own[pid] = c
	}
	since := now.Sub(c.looked)
	if s.waits {
		since = min(since, s.used-c.used)
	}
	c.passed, c.looked, c.used = c.passed+since, now, s.used
	return c.passed
}

// mayCall reports whether a process has something to watch, or runs Python,
// which may load it at any time.
func (c *census) mayCall(m *member) bool {
	program, _ := os.Readlink(proc(m.pid, "exe"))
	memory, _ := os.ReadFile(proc(m.pid, "maps"))
	return strings.HasPrefix(filepath.Base(program), "python") || bytes.Contains(memory, []byte("/libpython")) ||
		slices.ContainsFunc(c.objects, func(o *Object) bool { return o.found(memory) != absent })
}

// running returns the processes that have not ended.
func (c *census) running() []*member {
	all := slices.SortedFunc(maps.Values(c.members), func(a, b *member) int { return cmp.Compare(a.pid, b.pid) })
	return slices.DeleteFunc(all, func(m *member) bool { return readStat(m.pid).ended })
}

func join(all []*member) string {
	return loop.Join(all, ", ", (*member).String)
}

// A stat is the facts about a process that every user may read.
type stat struct {
	ended              bool          // it has no memory any more
	waits              bool          // for a processor, unless it has one, or a disk
	used               time.Duration // of processors
	parent             int
	began, size, image uint64 // image is 0 of a process that can't be looked into
}

// readStat returns a stat that is zero where there is no such process.
func readStat(pid int) (s stat) {
	const thread = "-1"                                     // instead of the signal that a process ends with
	fields := procstat.Fields(readShort(proc(pid, "stat"))) // from the third on
	if len(fields) < 36 || fields[38-3] == thread {
		return stat{ended: true}
	}
	number := func(i int) uint64 {
		n, _ := strconv.ParseUint(fields[i-3], 10, 64)
		return n
	}
	const tick = time.Second / 100 // on every Linux
	return stat{
		ended: number(23) == 0, waits: fields[0] == "R" || fields[0] == "D", used: time.Duration(number(14)+number(15)) * tick,
		parent: int(number(4)), began: number(22), size: number(23), image: number(28),
	}
}

// readShort returns the text of a file of less than a page, with the three system calls
// that this takes: it is read for each process, again and again.
func readShort(path string) []byte {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	text := make([]byte, 4096)
	n, _ := syscall.Read(fd, text)
	return text[:max(0, n)]
}

// A mark is the limit of the real-time timeout of one program's processes: 0, or one
// that nothing reaches. The kernel hands it on at each fork and exec, also where a
// process loses its parent and its environment.
type mark uint64

// on reports whether a process has the mark.
func (m mark) on(pid int) bool {
	_, rest, _ := strings.Cut(string(readShort(proc(pid, "limits"))), "\nMax realtime timeout ")
	fields := strings.Fields(rest)
	return m != 0 && len(fields) > 0 && fields[0] == strconv.FormatUint(uint64(m), 10)
}

// command returns the command line of a process, of which a report needs the
// beginning.
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
