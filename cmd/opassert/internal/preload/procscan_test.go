package preload

import (
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
		own, now, got := new(clock), time.Now(), time.Duration(0)
		for i, s := range tt.stats {
			got = own.advance(s, now.Add(time.Duration(i)*10*time.Second))
		}
		if got != tt.want {
			t.Errorf("%s: %v of its own, want %v", tt.name, got, tt.want)
		}
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
	c := newProcScan(pid, 0, nil)
	c.members[pid].command, c.members[pid].image = "a command", 1
	if c.meet(pid); c.members[pid].String() != "process "+strconv.Itoa(pid)+" (a command)" || len(c.running()) > 0 {
		t.Errorf("%v, running %v", c.members[pid], c.running())
	}
	other := newProcScan(os.Getpid(), 0, nil)
	if other.meet(pid); !other.foreign[pid] || len(other.members) != 1 {
		t.Errorf("of another program: foreign %v, members %v", other.foreign, other.members)
	}
}
