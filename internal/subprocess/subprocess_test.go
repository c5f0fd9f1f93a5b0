//go:build unix

package subprocess

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opassert/opassert/internal/dev/must"
)

// The test binary is also the command that starts another one and is killed.
func TestMain(m *testing.M) {
	if os.Getenv("ATTACHED") == "" {
		os.Exit(m.Run())
	}
	cmd := exec.Command("sh", "-c", "sleep 100 & echo $$ $!; wait")
	cmd.Stdout = os.Stdout
	defer Command(cmd)()
	cmd.Run()
}

// A command and the processes that it started end when its parent is killed.
func TestParentIsKilled(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "ATTACHED=1")
	out := must.Get(parent.StdoutPipe())(t)
	must.Do(t, parent.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	parent.Process.Kill()
	parent.Wait()
	pids := strings.Fields(line)
	if err != nil || len(pids) != 2 {
		t.Fatalf("%q, %v", line, err)
	}
	for _, text := range pids {
		pid, _ := strconv.Atoi(text)
		for begun := time.Now(); alive(pid); time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > 10*time.Second {
				syscall.Kill(pid, syscall.SIGKILL)
				t.Errorf("process %d outlives its parent", pid)
			}
		}
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !errors.Is(err, os.ErrNotExist)
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(state, "Z")
}

// Arguments, output and status of a command are unchanged.
func TestCommandIsItself(t *testing.T) {
	cmd := exec.Command("sh", "-c", `echo "$1"; exit 3`, "x", `a "b" $c`)
	release := Command(cmd)
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	release()
	var exit *exec.ExitError
	if string(out) != "a \"b\" $c\n" || !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("%q, %v", out, err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	cmd = exec.Command("no-such-command")
	defer Command(cmd)()
	if err := cmd.Run(); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%v, want %v", err, exec.ErrNotFound)
	}
}
