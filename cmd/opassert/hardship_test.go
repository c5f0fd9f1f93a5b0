//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
)

// hardshipVariable is the number of each hardship that a run gets; 1 without it.
const hardshipVariable = "OPASSERT_HARDSHIPS"

// familyVariable marks the processes of a test's command, which inherit it.
const familyVariable = "OPASSERT_TEST_FAMILY"

// A subject is a command that is tested under hardships.
type subject struct {
	name string
	dir  string
	args []string // arguments besides -json and -state
}

// subjects returns runs of every kind of worker, none of which crashes by itself.
func subjects(t *testing.T) []subject {
	t.Helper()
	return []subject{
		{name: "c10", dir: t.TempDir(), args: []string{"-engine", "c10", "-op", "aten::a*", "-n", "30"}},
		{name: "module", dir: copyModule(t, "example"), args: []string{"-engine", "go"}},
		{name: "libtorch", dir: t.TempDir(), args: []string{"-engine", "libtorch", "-op", "aten::add.*", "-op", "aten::mul*", "-n", "60"}},
	}
}

func hardships(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(hardshipVariable))
	if os.Getenv(hardshipVariable) == "" {
		return 1
	}
	if err != nil {
		t.Fatalf("%s: %v", hardshipVariable, err)
	}
	return n
}

// A trial is one run of a subject.
type trial struct {
	cmd            *exec.Cmd
	family         string
	stdout, stderr bytes.Buffer
}

var families int

// start starts a subject after a shell command with limits: "ulimit -n 20;".
func (s subject) start(t *testing.T, limits string, args ...string) *trial {
	t.Helper()
	return s.startAs(t, "opassert", limits, args...)
}

func (s subject) startAs(t *testing.T, command, limits string, args ...string) *trial {
	t.Helper()
	families++
	r := &trial{family: fmt.Sprintf("%d-%d", os.Getpid(), families)}
	args = append(append([]string{"-c", limits + ` exec "$@"`, "sh", command, "check", "-json", "-workers", "2"}, s.args...), args...)
	r.cmd = exec.Command("sh", args...)
	r.cmd.Dir, r.cmd.Env = s.dir, append(os.Environ(), familyVariable+"="+r.family, "GOWORK=off")
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.WaitDelay = time.Second
	must.Do(t, r.cmd.Start())
	t.Cleanup(func() { r.endFamily() })
	return r
}

// end waits for the run, and returns its exit status and how it differs from an
// undisturbed one.
func (r *trial) end(t *testing.T, want string) (status int, diff string) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		r.cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Minute):
		t.Errorf("it never ends: %v", r.relatives())
		r.endFamily()
		<-done
	}
	return r.cmd.ProcessState.ExitCode(), cmp.Diff(want, r.stdout.String())
}

// A relative is a process of a run.
type relative struct {
	pid  int
	name string
}

// relatives lists the living processes of a run.
func (r *trial) relatives() (all []relative) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		environ, err := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
		if err != nil || !bytes.Contains(environ, []byte(familyVariable+"="+r.family+"\x00")) {
			continue
		}
		stat, _ := os.ReadFile(file)
		_, after, _ := strings.Cut(string(stat), ") ")
		if after == "" || after[0] == 'Z' || after[0] == 'X' {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		all = append(all, relative{pid, strings.ReplaceAll(string(command), "\x00", " ")})
	}
	return all
}

func (r *trial) endFamily() {
	for range 100 {
		all := r.relatives()
		if len(all) == 0 {
			return
		}
		for _, p := range all {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// survivors returns the processes that outlive an ended run.
func (r *trial) alone() []relative {
	for range 3000 { // half a minute
		if len(r.relatives()) == 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return r.relatives()
}

// undisturbed returns the report of a run, and how long it takes.
func (s subject) undisturbed(t *testing.T) (report string, status int, took time.Duration) {
	t.Helper()
	begun := time.Now()
	r := s.start(t, "", "-state", filepath.Join(t.TempDir(), "state"))
	status, _ = r.end(t, "")
	if left := r.alone(); status == 2 || len(left) > 0 {
		t.Fatalf("undisturbed it ends with status %d and leaves %v:\n%s", status, left, &r.stderr)
	}
	return r.stdout.String(), status, time.Since(begun)
}

// A tally counts how the runs of a subject ended.
type tally struct {
	want           string
	status         int
	same, said     int // with the undisturbed report; with status 2 and the reason
	failed, killed int
}

// add waits for a run, and for its processes.
func (n *tally) add(t *testing.T, r *trial, after string) {
	t.Helper()
	status, diff := r.end(t, n.want)
	said := strings.TrimSpace(r.stderr.String())
	left := r.alone()
	switch refused := status == 2 || status == 126 || status == 127; { // the shell cannot start a command
	case len(left) > 0:
		n.failed++
		t.Errorf("%s: these are left: %v", after, left)
	case strings.Contains(said, "\ngoroutine "):
		n.failed++
		t.Errorf("%s: a dump instead of a message:\n%.1000s", after, said)
	case status == n.status && diff == "":
		n.same++
	case refused && said != "":
		n.said++
		t.Logf("%s: %s", after, said)
	default:
		n.failed++
		t.Errorf("%s: status %d, want %d:\n%s\n%s", after, status, n.status, diff, said)
	}
}

// kill kills the command of a run, and counts surviving processes as a failure.
func (n *tally) kill(t *testing.T, r *trial) {
	t.Helper()
	before := r.relatives()
	r.cmd.Process.Kill()
	r.end(t, "")
	n.killed++
	if left := r.alone(); len(left) > 0 {
		n.failed++
		t.Errorf("of %v these outlive the command: %v", before, left)
		r.endFamily()
	}
}

// each runs a test for every subject, and logs how its runs ended.
func each(t *testing.T, hardship func(t *testing.T, s subject, n *tally, took time.Duration)) {
	long(t)
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			want, status, took := s.undisturbed(t)
			n := &tally{want: want, status: status}
			hardship(t, s, n, took)
			t.Logf("%d killed; of the others %d with the same report, %d that say what is missing; %d failed", n.killed, n.same, n.said, n.failed)
		})
	}
}

// sometime waits for a random part of a time.
func sometime(took time.Duration) { time.Sleep(rand.N(max(took, time.Millisecond))) }

// No process outlives a command that was killed at any time; its results are stored,
// so that the next run ends with the same report.
func TestParentKilled(t *testing.T) {
	each(t, func(t *testing.T, s subject, n *tally, took time.Duration) {
		state := filepath.Join(t.TempDir(), "state")
		for range hardships(t) {
			r := s.start(t, "", "-state", state)
			sometime(took)
			n.kill(t, r)
		}
		if n.add(t, s.start(t, "", "-state", state), "going on after kills"); n.same != 1 {
			t.Error("the continued run has another report")
		}
	})
}

// A compiler ends with the command that started it; if only the compiler is killed,
// the command reports it and the next one starts another.
func TestCompilerKilled(t *testing.T) {
	long(t)
	found, _, err := installed.Find("")
	if err != nil {
		t.Fatal(err)
	}
	for range hardships(t) {
		// A libtorch under another path: no folder has a library for it.
		dir := t.TempDir()
		torch := filepath.Join(dir, "libtorch")
		must.Do(t, os.Symlink(found.Root, torch))
		s := subject{dir: dir, args: []string{"-engine", "libtorch", "-libtorch", torch, "-op", "aten::add.Tensor", "-n", "3"}}
		cache := "export XDG_CACHE_HOME=" + filepath.Join(dir, "cache") + " TMPDIR=" + dir + ";"
		for _, parent := range []bool{true, false} {
			r := s.start(t, cache)
			compiler := r.named("cc1plus")
			if compiler == 0 {
				status, _ := r.end(t, "")
				t.Fatalf("no compiler was started; status %d:\n%s", status, &r.stderr)
			}
			sometime(time.Second)
			if parent {
				r.cmd.Process.Kill()
			} else {
				syscall.Kill(compiler, syscall.SIGKILL)
			}
			if status, _ := r.end(t, ""); !parent && (status != 2 || r.stderr.Len() == 0) {
				t.Errorf("status %d:\n%s", status, &r.stderr)
			}
			if left := r.alone(); len(left) > 0 {
				t.Errorf("these outlive the command: %v", left)
			}
		}
	}
}

// waitFor waits for a process of a run by the name of its program, and returns its
// number, or 0 if the run ends without one.
func (r *trial) named(program string) int {
	for {
		all := r.relatives()
		for _, p := range all {
			if words := strings.Fields(p.name); len(words) > 0 && filepath.Base(words[0]) == program {
				return p.pid
			}
		}
		if len(all) == 0 {
			return 0
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// disturb does something to a process of a running command, other than the command
// itself, at some moment. The report is that of an undisturbed run, or says why it is
// incomplete.
func disturb(t *testing.T, what func(r *trial, p relative)) {
	each(t, func(t *testing.T, s subject, n *tally, took time.Duration) {
		for range hardships(t) {
			r := s.start(t, "", "-state", filepath.Join(t.TempDir(), "state"))
			var victim relative
			for begun, after := time.Now(), rand.N(took); time.Since(begun) < after || victim.pid == 0; time.Sleep(time.Millisecond) {
				all := r.relatives()
				if len(all) == 0 {
					break
				}
				if p := all[rand.IntN(len(all))]; p.pid != r.cmd.Process.Pid {
					victim = p
				}
			}
			what(r, victim)
			n.add(t, r, fmt.Sprintf("after %v", victim))
		}
	})
}

// A guard, a zygote, a worker or a compiler may be killed.
func TestRelativeKilled(t *testing.T) {
	disturb(t, func(_ *trial, p relative) {
		if p.pid > 0 {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
	})
}

// Any stopped process may continue later.
func TestRelativeStopped(t *testing.T) {
	disturb(t, func(r *trial, p relative) {
		if p.pid == 0 || rand.IntN(4) == 0 {
			p.pid = r.cmd.Process.Pid
		}
		syscall.Kill(p.pid, syscall.SIGSTOP)
		time.Sleep(rand.N(3 * time.Second))
		syscall.Kill(p.pid, syscall.SIGCONT)
	})
}

// A run under limits of the system either reports them or has its usual report.
func TestLimits(t *testing.T) {
	each(t, func(t *testing.T, s subject, n *tally, _ time.Duration) {
		for range hardships(t) {
			for _, limit := range []string{
				fmt.Sprintf("ulimit -n %d;", 3+rand.IntN(60)),
				fmt.Sprintf("ulimit -v %d;", 1<<10*(100+rand.IntN(6000))),
				fmt.Sprintf("ulimit -f %d;", rand.IntN(200)),
				fmt.Sprintf("ulimit -u %d;", 1+rand.IntN(200)),
				fmt.Sprintf("ulimit -s %d;", 100+rand.IntN(20000)),
			} {
				n.add(t, s.start(t, limit, "-state", filepath.Join(t.TempDir(), "state")), limit)
			}
		}
	})
}

// Two runs with one state both have the whole report.
func TestTwoRunsOneState(t *testing.T) {
	each(t, func(t *testing.T, s subject, n *tally, took time.Duration) {
		for range hardships(t) {
			state := filepath.Join(t.TempDir(), "state")
			first := s.start(t, "", "-state", state)
			sometime(took)
			second := s.start(t, "", "-state", state)
			n.add(t, first, "beside another")
			n.add(t, second, "beside another")
		}
		if n.said > 0 {
			t.Errorf("%d runs went without a report", n.said)
		}
	})
}

// A full disk costs only the files that would be written there, with a message.
func TestFullDisk(t *testing.T) {
	each(t, func(t *testing.T, s subject, n *tally, _ time.Duration) {
		for range hardships(t) {
			disk := t.TempDir()
			size := 4 << rand.IntN(15) // KiB
			size += rand.IntN(size)
			if err := syscall.Mount("none", disk, "tmpfs", 0, fmt.Sprintf("size=%dk", size)); errors.Is(err, syscall.EPERM) {
				t.Skip("only root may mount a small disk")
			} else if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
			room := "TMPDIR=" + disk
			if rand.IntN(2) == 0 {
				room = "true"
			}
			r := s.start(t, "export GOCACHE=$(go env GOCACHE) "+room+" XDG_CACHE_HOME="+disk+"/cache;", "-state", filepath.Join(disk, "state"), "-junit", filepath.Join(disk, "j.xml"))
			n.add(t, r, fmt.Sprintf("%s of %d KiB", room, size))
		}
	})
}
