package preload

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// Processes that outlive the program are waited for in their own time: a busy machine
// does not shorten it.
func TestClocks(t *testing.T) {
	sleeps, busy, starved := stat{}, stat{waits: true, used: 10 * time.Second}, stat{waits: true, used: time.Second}
	for _, tt := range []struct {
		name  string
		stats []stat
		want  time.Duration
	}{
		{"sleeps", []stat{sleeps, sleeps, sleeps}, 20 * time.Second},
		{"runs", []stat{{}, busy}, 10 * time.Second},
		{"runs on two processors", []stat{{}, {waits: true, used: 20 * time.Second}}, 10 * time.Second},
		{"waits for a processor", []stat{{}, starved, starved}, time.Second},
		{"ran before", []stat{busy, busy, busy}, 0},
		{"waits, and then sleeps", []stat{{}, starved, {used: time.Second}}, 11 * time.Second},
	} {
		own, now, got := make(clocks), time.Now(), time.Duration(0)
		for i, s := range tt.stats {
			got = own.advance(1, s, now.Add(time.Duration(i)*10*time.Second))
		}
		if got != tt.want {
			t.Errorf("%s: %v of its own, want %v", tt.name, got, tt.want)
		}
	}
}

// The slowest process is waited for, and a new one has all of its time left.
func TestSlowestClock(t *testing.T) {
	own, now := make(clocks), time.Now()
	own.advance(-1, stat{}, now)
	one, other := &programProcess{pid: -1}, &programProcess{pid: -2} // these processes do not exist: they count as sleeping
	if got := own.passed([]*programProcess{one}, now.Add(time.Minute)); got != time.Minute {
		t.Errorf("%v, want a minute", got)
	}
	if got := own.passed([]*programProcess{one, other}, now.Add(time.Minute)); got != 0 {
		t.Errorf("%v, want 0", got)
	}
}

// A process that has used a processor does not count as waiting for a disk.
func TestReadStat(t *testing.T) {
	for readStat(os.Getpid()).used < 20*time.Millisecond { // which may take long
	}
	if s := readStat(os.Getpid()); s.ended || s.parent != os.Getppid() || s.began == 0 || s.size == 0 || s.image == 0 {
		t.Errorf("%+v", s)
	}
	if s := readStat(-1); !s.ended || s.waits {
		t.Errorf("of no process: %+v", s)
	}
}

// A zombie has no memory: it keeps its command, and does not run.
func TestEnded(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	pid := cmd.Process.Pid
	for range 1000 {
		if readStat(pid).ended {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	c := newCensus(pid, 0, nil)
	c.members[pid].command, c.members[pid].image = "a command", 1
	if c.meet(pid); c.members[pid].String() != "process "+strconv.Itoa(pid)+" (a command)" || len(c.running()) > 0 {
		t.Errorf("%v, running %v", c.members[pid], c.running())
	}
	other := newCensus(os.Getpid(), 0, nil)
	if other.meet(pid); !other.foreign[pid] || len(other.members) != 1 {
		t.Errorf("of another program: foreign %v, members %v", other.foreign, other.members)
	}
}

// If few processes were started since the last scan, only these are inspected.
func TestLookAtStarted(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	pid := cmd.Process.Pid
	for _, tt := range []struct {
		name         string
		before, last int // at the scans before
		now          int
		foreign      map[int]bool
		want         bool
	}{
		{"it is the last", pid - 2, pid - 1, pid, nil, true},
		{"others follow", pid - 2, pid - 1, pid + 2, nil, true},
		{"its number was given, and it was not there", pid - 1, pid, pid, nil, true},
		{"its number was another's", pid - 2, pid - 1, pid, map[int]bool{pid: true}, true},
		{"it is another's, as was seen", pid - 1, pid, pid, map[int]bool{pid: true}, false},
		{"it was there long ago", pid, pid, pid + 1, nil, false},
		{"it is not the last", pid - 3, pid - 2, pid - 1, nil, false},
	} {
		c := newCensus(os.Getpid(), 0, nil)
		c.before, c.last = tt.before, tt.last
		if tt.foreign != nil {
			c.foreign = tt.foreign
		}
		c.scanStarted(tt.now)
		if got := c.members[pid] != nil; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// If the numbers have wrapped around, are unknown, or are more than the processes,
// all processes are scanned.
func TestCounts(t *testing.T) {
	for _, tt := range []struct {
		before, last, now int
		want              bool
	}{
		{7, 7, 7, true}, {7, 8, 9, true}, {7, 7, 10, true}, {1, 2, 3, true},
		{7, 7, 11, false},                  // three processes are known
		{7, 8, 3, false},                   // wrapped around
		{8, 3, 4, false}, {8, 3, 9, false}, // at the scan before
		{0, 0, 0, false}, {0, 1, 2, false}, // not known yet
		{7, 0, 0, false}, {7, 7, 0, false},
	} {
		c := newCensus(os.Getpid(), 0, nil)
		c.foreign = map[int]bool{1: true, 2: true}
		if c.before, c.last = tt.before, tt.last; c.fewStarted(tt.now) != tt.want {
			t.Errorf("%+v: %v", tt, !tt.want)
		}
	}
}

// Threads have numbers too.
func TestThread(t *testing.T) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil || len(threads) < 2 { // of Go's own
		t.Fatalf("%d threads: %v", len(threads), err)
	}
	for _, thread := range threads {
		if tid, _ := strconv.Atoi(thread.Name()); tid != os.Getpid() && readStat(tid).began != 0 {
			t.Errorf("thread %d counts as a process", tid)
		}
	}
}

// The last started process is known by its number.
func TestLastStarted(t *testing.T) {
	if text := readShort("/proc/loadavg"); len(text) == 0 || bytes.HasSuffix(text, []byte(" 0\n")) {
		t.Skipf("the system says %q", text)
	}
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if lastStarted() == 0 {
		t.Error("is not known")
	}
}
