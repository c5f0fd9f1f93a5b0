package watch

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
)

// A reported run is a run to whose processes the test adds findings.
type reported struct {
	*run
	printed  []string
	reported map[int]uint64 // the news that processes have asked for
}

func newHeard() *reported {
	r := &reported{reported: make(map[int]uint64)}
	r.run = &run{findings: findings{byKey: make(map[string]*OpFinding), held: make(reporters)}}
	r.findings.first = func(f *OpFinding) { r.printed = append(r.printed, f.Op) }
	return r
}

// contexts returns the file with the contexts of a process, and the number at its start.
func (r *reported) contexts(t *testing.T, pid int) (file *os.File, news uint64) {
	t.Helper()
	file, err := r.findings.contexts(strconv.Itoa(pid))
	if err != nil {
		t.Fatal(err)
	}
	var word [newsSize]byte
	if _, err := file.ReadAt(word[:], 0); err != nil {
		t.Fatal(err)
	}
	return file, binary.NativeEndian.Uint64(word[:])
}

// enter writes a context of a process, and returns the answer if there is news:
// context, op and number of each.
func (r *reported) enter(t *testing.T, pid, number int, name string) (since []string) {
	t.Helper()
	file, news := r.contexts(t, pid)
	if _, err := fmt.Fprintf(file, "%d\n%s\nrepeat %s\x00", number, name, name); err != nil {
		t.Fatal(err)
	}
	if news == r.reported[pid] {
		return nil
	}
	r.reported[pid] = news
	text, err := (&process{run: r.run}).answer(preload.Message{Kind: frameSince, Data: []byte(strconv.Itoa(pid))})
	if err != nil {
		t.Fatal(err)
	}
	var all []shownOccurrence
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	for _, o := range all {
		if want := "\n        again  repeat " + o.Context; !strings.Contains(o.Report, want) {
			t.Errorf("no %q in\n%s", want, o.Report)
		}
		since = append(since, fmt.Sprintf("%s: %s %d", o.Context, o.Op, o.Times))
	}
	return since
}

func (r *reported) find(op string, pid int, number int64) *OpFinding {
	v := &asserts.Violation{Op: op, Code: asserts.UndeclaredWrite}
	return r.findings.add(v, &process{run: r.run, pid: pid}, nil, r.findings.at(pid, number))
}

func equal(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// A process gets the findings in each of its contexts, in itself and in the processes
// that it has started, also repeated ones; no other process gets them.
func TestContexts(t *testing.T) {
	sleeper := exec.Command("sh", "-c", "read line; true")
	from, err := sleeper.StdinPipe()
	if err == nil {
		err = sleeper.Start()
	}
	if err != nil {
		t.Skip(err)
	}
	defer sleeper.Wait()
	defer from.Close()
	r, pid, child := newHeard(), os.Getpid(), sleeper.Process.Pid
	r.find("before", pid, 0)
	equal(t, "printed", r.printed, "before")
	equal(t, "since nothing", r.enter(t, pid, 1, "one"))
	r.find("a", pid, 0)
	r.find("a", pid, 0)
	r.find("b", child, 0)
	equal(t, "since one", r.enter(t, pid, 2, "two"), "one: a 2", "one: b 1")
	equal(t, "since two", r.enter(t, pid, 3, "three"))
	last := r.find("a", pid, 0)
	r.find("late", pid, 1)
	r.find("unknown", pid, 77)
	equal(t, "since three", r.enter(t, pid, 4, "four"), "three: a 1", "one: late 1", "three: unknown 1")
	if last.Count != 3 || last.Asked != 3 {
		t.Errorf("%d times, %d asked for", last.Count, last.Asked)
	}
	r.enter(t, child, 1, "child")
	r.find("b", child, 0)
	equal(t, "the parent, if the child asks itself", r.enter(t, pid, 5, "five"))
	equal(t, "the child", r.enter(t, child, 2, "end"), "child: b 1")
	r.find("elsewhere", 1, 0)
	equal(t, "printed for a process without a reporter", r.printed, "before", "elsewhere")
	never := r.find("never asked for", pid, 0)
	r.findings.end()
	r.findings.end()
	if never.Repro != "repeat five" {
		t.Errorf("what was never asked for is repeated by %q", never.Repro)
	}
	equal(t, "printed at the end", r.printed, "before", "elsewhere", "never asked for")
}

// A finding that a process has not asked for when it ends goes to the one that
// started it, with the context in which it was found.
func TestContextsOfEnded(t *testing.T) {
	shell := exec.Command("sh", "-c", "sleep 60 & echo $!; exec sleep 60")
	out, err := shell.StdoutPipe()
	if err == nil {
		err = shell.Start()
	}
	if err != nil {
		t.Skip(err)
	}
	r, pid, child, grandchild := newHeard(), os.Getpid(), shell.Process.Pid, 0
	fmt.Fscan(out, &grandchild)
	r.enter(t, pid, 1, "one")
	r.enter(t, 1, 1, "no descendant")
	r.enter(t, child, 1, "child")
	r.enter(t, grandchild, 1, "grandchild")
	r.find("b", child, 0)
	r.find("c", grandchild, 0)
	r.find("elsewhere", 1, 0)
	equal(t, "while they run", r.enter(t, pid, 2, "two"))
	last, err := os.FindProcess(grandchild)
	if err := errors.Join(err, last.Kill(), shell.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	shell.Wait()
	for deadline := time.Now().Add(time.Minute); !ended(grandchild) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	equal(t, "once they have ended", r.enter(t, pid, 3, "three"), "child: b 1", "grandchild: c 1")
	equal(t, "again", r.enter(t, pid, 4, "four"))
	r.enter(t, child, 1, "another's with its number")
	r.find("d", child, 0)
	equal(t, "of another", r.enter(t, pid, 5, "five"))
}

// A zombie counts as ended, and its findings go only to the process that started it.
func TestContextsOfEndedUnderAnother(t *testing.T) {
	shell := exec.Command("true")
	if err := shell.Start(); err != nil {
		t.Skip(err)
	}
	defer shell.Wait()
	pid := shell.Process.Pid
	for deadline := time.Now().Add(time.Minute); !ended(pid) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	starter := new(reporter)
	h := reporters{pid: {parent: starter, unreported: make([]*occurrence, 2)}}
	if n := len(h.inherit(new(reporter))); n != 0 {
		t.Errorf("another inherits %d findings", n)
	}
	if n := len(h.inherit(starter)); n != 2 {
		t.Errorf("the one that started it inherits %d findings, want 2", n)
	}
}

// A process asks again while one that it started has findings that it has not asked for.
func TestLeaves(t *testing.T) {
	top, some := new(reporter), []*occurrence{{}}
	child := &reporter{parent: top}
	grandchild := &reporter{parent: child}
	h := reporters{1: top, 2: child, 3: grandchild}
	for _, tt := range []struct {
		child, grandchild            []*occurrence
		ofTop, ofChild, ofGrandchild bool
	}{
		{nil, nil, false, false, false},
		{some, nil, true, false, false},
		{nil, some, true, true, false},
		{some, some, true, true, false},
	} {
		child.unreported, grandchild.unreported = tt.child, tt.grandchild
		if h.leaves(top) != tt.ofTop || h.leaves(child) != tt.ofChild || h.leaves(grandchild) != tt.ofGrandchild {
			t.Errorf("%v: %v %v %v", tt, h.leaves(top), h.leaves(child), h.leaves(grandchild))
		}
	}
}

// A finding in two contexts is reported in each.
func TestFoundInTwoContexts(t *testing.T) {
	r, pid := newHeard(), os.Getpid()
	r.enter(t, pid, 1, "one")
	r.enter(t, pid, 2, "two")
	r.find("a", pid, 1)
	r.find("a", pid, 2)
	equal(t, "since two", r.enter(t, pid, 3, "three"), "one: a 1", "two: a 1")
}

// Programs do not get findings in a baseline, nor notes.
func TestContextsOfKnownFindings(t *testing.T) {
	r, pid := newHeard(), os.Getpid()
	r.findings.known = func(f *OpFinding) bool { return f.Op == "known" }
	r.enter(t, pid, 1, "one")
	r.find("known", pid, 0)
	v := &asserts.Violation{Op: "debatable", Code: asserts.UndeclaredWrite, Note: "why"}
	r.findings.add(v, &process{run: r.run, pid: pid}, nil, r.findings.at(pid, 0))
	equal(t, "since one", r.enter(t, pid, 2, "two"))
	equal(t, "printed", r.printed, "debatable")
	r.findings.strict = true
	r.findings.add(v, &process{run: r.run, pid: pid}, nil, r.findings.at(pid, 0))
	equal(t, "since two, strict", r.enter(t, pid, 3, "three"), "two: debatable 1")
}

// Exit status 1 is for findings that the program has not asked for.
func TestExitStatusOfAsked(t *testing.T) {
	for _, test := range []struct{ count, asked, want int }{{1, 1, 0}, {2, 1, 1}, {1, 0, 1}} {
		f := &OpFinding{Violation: &asserts.Violation{Op: "a"}, Count: test.count, Asked: test.asked}
		if got := (&OpReport{Findings: []*OpFinding{f}}).ExitStatus(); got != test.want {
			t.Errorf("%d found, %d asked for: exit status %d, want %d", test.count, test.asked, got, test.want)
		}
	}
}

// A report is valid UTF-8 in the answer to a program.
func TestReportIsText(t *testing.T) {
	f := &OpFinding{Violation: &asserts.Violation{Op: "a::##[error]"}, Pids: []int{1}, Rank: "##vso[x]", Site: []Frame{{File: "##[group]\n::error::\x1b.py"}}}
	if text := f.Report(); strings.Contains(text, "##[") || strings.Contains(text, "##vso[") || strings.Contains(text, "\n::") || strings.Contains(text, "\x1b") {
		t.Error(text)
	}
}

// An incomplete or invalid entry changes nothing.
func TestEntryCutShort(t *testing.T) {
	r, pid := newHeard(), os.Getpid()
	r.enter(t, pid, 1, "one")
	file, _ := r.contexts(t, pid)
	for _, text := range []string{"", "\x00", "2\x00", "2\nname\x00", "x\nname\nagain\x00", "2\nhalf a na"} {
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if at := r.findings.at(pid, 0); at.in.name != "one" {
			t.Errorf("%q: in %q", text, at.in.name)
		}
	}
	if _, err := file.WriteString("me\nagain\x00"); err != nil {
		t.Fatal(err)
	}
	if at := r.findings.at(pid, 2); at.in != (task{"half a name", "again"}) {
		t.Errorf("once it is whole, in %v", at.in)
	}
}

// The number at the start of the file rises only when its process has findings to ask for.
func TestNews(t *testing.T) {
	r, pid := newHeard(), os.Getpid()
	told := func() uint64 {
		_, news := r.contexts(t, pid)
		return news
	}
	r.enter(t, pid, 1, "one")
	r.enter(t, 1, 1, "no descendant")
	r.find("elsewhere", 1, 0)
	if told() != 0 {
		t.Error("notified of another process's findings")
	}
	r.find("a", pid, 0)
	if told() == 0 {
		t.Error("not notified of a finding")
	}
	r.enter(t, pid, 2, "two")
	if before := told(); r.find("a", pid, 0) == nil || told() == before {
		t.Error("not notified that it was found again")
	}
	r.enter(t, pid, 3, "three")
	if before := told(); len(r.enter(t, pid, 4, "four")) > 0 || told() != before {
		t.Error("notified of nothing")
	}
}

// The file of an ended process is read and closed: another process with its number
// gets a new one.
func TestContextsOfOneThatEnded(t *testing.T) {
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	r, pid := newHeard(), child.Process.Pid
	r.enter(t, os.Getpid(), 1, "above")
	file, _ := r.contexts(t, pid)
	if _, err := file.WriteString("3\nlast\nagain\x00"); err != nil {
		t.Fatal(err)
	}
	child.Process.Kill()
	child.Wait()
	if own, _ := r.contexts(t, os.Getpid()); own == nil || r.findings.held[os.Getpid()].file != own {
		t.Error("the file of a running process is closed")
	}
	if _, err := file.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file of an ended process is open: %v", err)
	}
	if at := r.findings.at(pid, 3); at.in != (task{"last", "again"}) {
		t.Errorf("it ended in %v", at.in)
	}
	if next, _ := r.contexts(t, pid); next == file {
		t.Error("the next process of its number has a closed file")
	}
}

// A process without a context can't ask.
func TestAskedByOthers(t *testing.T) {
	for _, text := range []string{"", "x", "12"} {
		r := newHeard()
		if _, err := (&process{run: r.run}).answer(preload.Message{Kind: frameSince, Data: []byte(text)}); err == nil {
			t.Errorf("%q is answered", text)
		}
	}
	if _, err := newHeard().findings.contexts("x"); err == nil {
		t.Error("contexts of no process")
	}
}
