//go:build linux

package suite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/dev/must"
)

// The locks of processes that no longer exist are removed, and others remain.
func TestUnlock(t *testing.T) {
	folder, locks := t.TempDir(), t.TempDir()
	gone := exec.Command("true")
	must.Do(t, gone.Run())
	for name, pid := range map[string]int{"gone": gone.Process.Pid, "there": os.Getpid()} {
		lock := filepath.Join(locks, name)
		must.Do(t, os.WriteFile(lock, nil, 0o600))
		must.Do(t, os.Symlink(lock, filepath.Join(folder, fmt.Sprintf("%s%d-%s", lockNote, pid, name))))
	}
	unlock(folder)
	for path, want := range map[string]int{locks: 1, folder: 1} {
		if left := must.Get(os.ReadDir(path))(t); len(left) != want {
			t.Errorf("left in %s are %v, want %d", path, left, want)
		}
	}
}

// Children of kernels work while a process that they started uses processor time, also after it ended, but not
// while it sleeps.
func TestKernelChildren(t *testing.T) {
	p := &process{worker: must.Get(os.FindProcess(os.Getpid()))(t), workers: new(workerSet)}
	p.workers.Store(p, pid(os.Getpid()))
	sleeping := exec.Command("sleep", "600")
	must.Do(t, sleeping.Start())
	defer sleeping.Wait()
	defer sleeping.Process.Kill()
	children := p.kernelChildren()
	children.work() // it may just have started
	if children.work() {
		t.Error("a process that sleeps works")
	}
	must.Do(t, exec.Command("sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done").Run())
	if !children.work() {
		t.Error("a process that has worked did not")
	}
	children.was -= childTime
	must.Do(t, exec.Command("sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done").Run())
	if children.work() {
		t.Error("there is no limit")
	}
}

// A call that hangs on a device after a process that its worker started has ended has lost the
// device, with the last output there; on the CPU, and if all processes live, it hangs.
func TestDeviceWhoseProcessEnded(t *testing.T) {
	const child = "until grep -q sleep /proc/$$/comm; do :; done &" // ends once nothing waits for it
	const words = "Traceback:\nRuntimeError: no memory\n"
	for _, tt := range []struct{ device, first, words, cause, said string }{
		{"openreg:0", child, words, report.DeviceLost, "a process of the device has ended: RuntimeError: no memory"},
		{"openreg:0", child, "", report.DeviceLost, "a process of the device has ended"},
		{"openreg:0", child, " \n\n", report.DeviceLost, "a process of the device has ended"},
		{"openreg:0", "", words, report.Hang, ""},
		{"cpu", child, words, report.Hang, ""},
		{"meta", child, words, report.Hang, ""},
		{"", child, words, report.Hang, ""},
	} {
		s := perform(t, func(q request, n int) []string {
			return []string{startOf(0), lineCall + " x", tt.words + "|" + lineDevice + " " + tt.device}
		})
		s.lives = true
		s.p.worker = s.sleeper(t, tt.first)
		for tt.first != "" && !s.p.childEnded() {
			time.Sleep(time.Millisecond)
		}
		crash, err := s.once(t.Context(), request{Op: "ns::f", To: 3}, 100*time.Millisecond, nil)
		if err != nil || crash.Cause != tt.cause || crash.Said != tt.said || s.p == nil || s.p.childEnded() {
			t.Errorf("%s after %q: %v, %+v; want %s, %q, and another worker", tt.device, tt.first, err, crash, tt.cause, tt.said)
		}
	}
}
