package watch_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
)

// openreg makes the Python of a test import openreg, and returns a library of kernels
// for it.
func (p python) openreg(t *testing.T) string {
	t.Helper()
	return libtorchtest.Openreg(t, "../../../..", &installed.Python{Path: p.path, Torch: p.torch})
}

// Faults of kernels in the memory of a device are found as on the CPU, and so are
// differences to the op's kernel for the CPU, at the line that called the op. The
// latter can only write to its own memory, and is abandoned if it waits for other
// processes.
func TestContentsOnDevice(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		program := []string{p.path, "testdata/device.py", p.openreg(t)}
		o := run(t, nil, program...)
		if i := slices.IndexFunc(o.found, func(f found) bool { return f.Op == "broken::strides" }); i < 0 || o.found[i].Saw != "strides [1 3] of sizes [3 4], on cpu [4 1]" {
			t.Error("no finding says how broken::strides differs from the CPU")
		}
		if diff := cmp.Diff(expected(t, "testdata/device.py"), lines(o.found, false)); diff != "" || o.status != 1 {
			t.Errorf("exit status %d\n%s\n%s", o.status, diff, o.stderr)
		}
		if why := "they are random, or old contents of the memory"; !strings.Contains(o.stderr, why) {
			t.Errorf("%q is not counted:\n%s", why, o.stderr)
		}
		allow := filepath.Join(t.TempDir(), "allow.yaml")
		entries := "- {op: broken::writes, checks: [OA009], reason: r, device: openreg}\n- {op: broken::strides, checks: [OA011], reason: r, device: openreg, level: note}\n" +
			"- {op: broken::returns_input, checks: all, reason: r, device: cpu}\n- {op: broken::same_twice, checks: all, reason: r, device: \"openreg:1\"}\n"
		must.Do(t, os.WriteFile(allow, []byte(entries), 0o666))
		o = run(t, []string{"-allow", allow, "-tolerance", "0"}, program...)
		if why := "values not compared with those of the kernel for the CPU: by -tolerance 0"; !strings.Contains(o.stderr, why) {
			t.Errorf("%q is not counted:\n%s", why, o.stderr)
		}
		left := make(map[string]string)
		for _, f := range o.found {
			left[f.Op] = f.Note
		}
		_, waived := left["broken::writes"]
		_, onCPU := left["broken::returns_input"]
		_, onSecond := left["broken::same_twice"]
		if waived || !onCPU || !onSecond || left["broken::strides"] != "r" {
			t.Errorf("entries of an allowlist that name devices: %v", left)
		}
		cases := filepath.Join(t.TempDir(), "cases.yaml")
		o = run(t, []string{"-max-bytes", "8", "-record", cases}, program...)
		read := func(f found) bool { return f.Code == "OA009" && f.Op != "broken::moves" || f.Op == "broken::drops" }
		if slices.ContainsFunc(o.found, read) || !strings.Contains(o.stderr, "bytes not compared with those of the kernel for the CPU") || !strings.Contains(o.stderr, "calls on storages too large for content") {
			t.Errorf("contents of more than 8 bytes are read:\n%s", o.stderr)
		}
		recorded := string(must.Get(os.ReadFile(cases))(t))
		for _, want := range []string{`ops: ["broken::writes"]`, "{x: \"float32[3, 4]\"", "device: \"device:cpu\""} {
			if !strings.Contains(recorded, want) {
				t.Errorf("no %s among the calls on a device:\n%s", want, recorded)
			}
		}
	})
}

// A backend that can't copy bytes is reported, and the rest of the operator is checked.
func TestContentsThatDeviceDoesNotCopy(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		o := run(t, nil, p.path, "testdata/uncopied.py", p.openreg(t))
		if o.status != 2 || o.stdout != "the device is lost\n" {
			t.Errorf("exit status %d, the program writes %q\n%s", o.status, o.stdout, o.stderr)
		}
		if diff := cmp.Diff(expected(t, "testdata/uncopied.py"), lines(o.found, false)); diff != "" {
			t.Error(diff)
		}
		for _, want := range []string{
			"whole::returns_view: the bytes of a tensor on openreg:0 cannot be copied to the CPU: RuntimeError: the device is lost",
			"broken::returns_view: the bytes of a tensor on openreg:0 cannot be copied to the CPU: RuntimeError: the device is lost",
			"skipped OA009 9: contents unavailable",
		} {
			if strings.Count(o.stderr, want) != 1 {
				t.Errorf("the report does not say once %q:\n%s", want, o.stderr)
			}
		}
	})
}

// During the capture of a graph nothing is copied from the device, nor waited for.
func TestContentsWhileGraphIsCaptured(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		o := run(t, nil, p.path, "testdata/captured.py", p.openreg(t))
		if diff := cmp.Diff(expected(t, "testdata/captured.py"), lines(o.found, false)); diff != "" || o.status != 1 || o.stdout != "waited 0\n" {
			t.Errorf("exit status %d, the program writes %q\n%s\n%s", o.status, o.stdout, diff, o.stderr)
		}
		if !strings.Contains(o.stderr, "skipped OA009") {
			t.Errorf("what is not read is not counted:\n%s", o.stderr)
		}
	})
}
