package preload

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// A process has a parent, a start and memory.
func TestReadStat(t *testing.T) {
	if s := readStat(os.Getpid()); s.ended || s.parent != os.Getppid() || s.began == 0 || s.size == 0 || s.image == 0 {
		t.Errorf("%+v", s)
	}
	if s := readStat(-1); !s.ended {
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
