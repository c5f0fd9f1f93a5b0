package torch_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
)

// Kernels of a device are run on its tensors, here the second of its type, and
// compared with the CPU's, with values, in processes that are not forked from one
// with a driver. A lost device is the result of a case, and the next cases have a
// working one.
func TestDevice(t *testing.T) {
	if os.Getenv("OPASSERT_LONG") == "" {
		t.Skip("a minute; OPASSERT_LONG=1 runs it")
	}
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		t.Setenv("DEVICE_OPS", libtorchtest.Openreg(t, "../../../..", python))
		args := []string{"-device", "openreg:1", "-module", "device_ops", "-n", "14", "-tolerance", "1e-3", "-json"}
		want := expected(t, python, "device_ops")
		for op := range want {
			args = append(args, "-op", op)
		}
		got := check(t, python, "testdata", args...)
		var results []asserts.Result
		if err := json.Unmarshal([]byte(got.stdout), &results); err != nil || got.status != 1 {
			t.Fatalf("%v, exit status %d, want 1\n%s", err, got.status, got.stderr)
		}
		found, passed, lost := make(map[string]string), make(map[string]bool), make(map[string]bool)
		for _, r := range results {
			switch {
			case r.Status == asserts.Crashed && loses(want[r.Op]) && strings.Contains(r.Reason+r.Report, want[r.Op]):
				lost[r.Op] = true
			case r.Status == asserts.Violated, strings.Contains(r.Report, ", and every argument on openreg:1"),
				strings.Contains(r.Report, "on openreg its kernel for autograd raises that there is no gradient, and on the CPU there is one"),
				strings.Contains(r.Report, "the current device of the backend changed: it was 0 and is 1"):
				found[r.Op] = r.Code.String()
			case r.Status == asserts.Crashed || r.Status == asserts.Failed:
				t.Errorf("%s: %s\n%s", r.Op, r.Reason, r.Report)
			case r.Status == asserts.Passed && r.Device == "openreg:1":
				passed[r.Op] = true
			}
		}
		for op, fault := range want {
			if !passed[op] || lost[op] != loses(fault) || !lost[op] && found[op] != fault || lost[op] && found[op] != "" {
				t.Errorf("%s: found %q, want %q; some check passed on the device: %v; the device was lost: %v", op, found[op], fault, passed[op], lost[op])
			}
		}
	})
}

// loses reports whether what is expected of an op is the error of a lost device.
func loses(fault string) bool {
	return fault != "" && !strings.HasPrefix(fault, "OA")
}

// A device that hangs is the result of a case, and the next cases have a working one.
func TestDeviceThatSpins(t *testing.T) {
	if os.Getenv("OPASSERT_LONG") == "" {
		t.Skip("half a minute; OPASSERT_LONG=1 runs it")
	}
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		t.Setenv("DEVICE_OPS", libtorchtest.Openreg(t, "../../../..", python))
		got := check(t, python, "testdata", "-device", "openreg:1", "-module", "device_ops", "-n", "14", "-timeout", "300ms", "-workers", "1", "-json", "-op", "drives::spins", "-op", "whole::strides")
		var results []asserts.Result
		must.Do(t, json.Unmarshal([]byte(got.stdout), &results))
		passed, hung := make(map[string]bool), false
		for _, r := range results {
			passed[r.Op] = passed[r.Op] || r.Status == asserts.Passed && r.Device == "openreg:1"
			hung = hung || r.Op == "drives::spins" && r.Status == asserts.Crashed && strings.HasPrefix(r.Reason, "hang") && strings.Contains(r.Report, "x=bool[")
		}
		if got.status != 1 || !hung || !passed["drives::spins"] || !passed["whole::strides"] {
			t.Errorf("exit status %d, hung is %v, passed %v\n%s", got.status, hung, passed, got.stderr)
		}
	})
}

// An absent device is an error before the run, which says what to do.
func TestDeviceThatIsNotThere(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		for name, want := range map[string]string{
			"lpu":  "device lpu is not available: PyTorch has no device of that name; name the package that brings it with -module",
			"meta": "device meta is not available: no loaded library has kernels for it; name the package that brings it with -module",
		} {
			got := check(t, python, "testdata", "-device", name)
			lines := strings.Split(got.stderr, "\n")
			if got.status != 2 || !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, want) }) {
				t.Errorf("%s: exit status %d\n%s", name, got.status, cmp.Diff(want, got.stderr))
			}
		}
	})
}

// An index without a device is an error that lists the valid ones; another name than
// the imported device's is an error that has that name.
func TestDeviceOfNoSuchIndex(t *testing.T) {
	if os.Getenv("OPASSERT_LONG") == "" {
		t.Skip("it builds openreg; OPASSERT_LONG=1 runs it")
	}
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		libtorchtest.Openreg(t, "../../../..", python)
		const others = "the devices of that type are openreg:0 to openreg:1"
		for name, why := range map[string]string{
			"openreg:2": others, "openreg:7": others, "openreg:999": others, "openrg": "PyTorch has no device of that name; the one that a package brought is openreg",
		} {
			got := check(t, python, "testdata", "-device", name, "-module", "torch_openreg")
			if want := "device " + name + " is not available: " + why + "\n"; got.status != 2 || !strings.HasSuffix(got.stderr, want) {
				t.Errorf("exit status %d\n%s", got.status, cmp.Diff(want, got.stderr))
			}
		}
	})
}

// A program calls ops on a library's devices through wrappers of gen, which find the
// writes of a kernel of that device.
func TestTypedCallsOnDevices(t *testing.T) {
	if os.Getenv("OPASSERT_LONG") == "" {
		t.Skip("a minute; OPASSERT_LONG=1 runs it")
	}
	root := must.Get(filepath.Abs("../../../.."))(t)
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		kernels := libtorchtest.Openreg(t, root, python)
		library := filepath.Join(os.Getenv("PYTHONPATH"), "torch_openreg", "_C.so")
		t.Setenv("LIBTORCH", python.Torch.Root)
		t.Setenv("OPASSERT", "level=content,log")
		folder := t.TempDir()
		must.Do(t, os.CopyFS(folder, os.DirFS("testdata/typed")))
		module := "module example.com/typed\n\ngo 1.26.0\n\nrequire github.com/opassert/opassert v0.0.0\n\nreplace github.com/opassert/opassert => " + root + "\n"
		must.Do(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte(module), 0o666))
		if got := run(t, folder, "gen", "-engine", "libtorch", "-schema", "ops.yaml", "-out", "ops"); got.status != 0 {
			t.Fatal(got.stderr)
		}
		cmd := exec.Command("go", "run", "-tags", "opassert", ".", library, kernels, "privateuseone:0", "privateuseone:1")
		cmd.Dir = folder
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		want := "privateuseone:0 PrivateUse1 [1 2 3] [-2 0 -6]\nprivateuseone:1 PrivateUse1 [1 2 3] [-2 0 -6]\n"
		if err != nil || string(out) != want || strings.Count(stderr.String(), "OA009") != 2 || strings.Count(stderr.String(), "OA") != 2 {
			t.Errorf("%v\n%s%s", err, cmp.Diff(want, string(out)), &stderr)
		}
	})
}

// An allowlist excuses an op on the devices that it names, and a preset a copy on
// those of packages: check and run report the others.
func TestAllowlistOfDevices(t *testing.T) {
	if os.Getenv("OPASSERT_LONG") == "" {
		t.Skip("half a minute; OPASSERT_LONG=1 runs it")
	}
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		t.Setenv("DEVICE_OPS", libtorchtest.Openreg(t, "../../../..", python))
		allow := filepath.Join(t.TempDir(), "allow.yaml")
		entries := "- {op: broken::writes, checks: [OA009], device: openreg, reason: on each of them}\n" +
			"- {op: broken::writes_second, checks: [OA009], device: \"openreg:1\", reason: on this one}\n" +
			"- {op: broken::keeps_version, checks: [OA010], device: \"openreg:0\", reason: on another}\n" +
			"- {op: broken::returns_memory, checks: [OA007], device: cuda, reason: on another type}\n"
		must.Do(t, os.WriteFile(allow, []byte(entries), 0o666))
		args := []string{"-device", "openreg:1", "-module", "device_ops", "-n", "6", "-allow", allow, "-json"}
		for _, op := range []string{"broken::writes", "broken::writes_second", "broken::keeps_version", "broken::returns_memory", "aten::_copy_from"} {
			args = append(args, "-op", op)
		}
		got := check(t, python, "testdata", args...)
		var results []asserts.Result
		must.Do(t, json.Unmarshal([]byte(got.stdout), &results))
		seen := make(map[string]string)
		for _, r := range results {
			reason, waived := strings.CutPrefix(r.Reason, "waived: ")
			switch {
			case r.Status == asserts.Violated && r.Code != asserts.MetaAlias:
				seen[r.Op] = r.Code.String()
			case waived && r.Code == asserts.UndeclaredWrite:
				seen[r.Op], _, _ = strings.Cut(reason, ";")
			}
		}
		want := map[string]string{
			"broken::writes": "on each of them", "broken::writes_second": "on this one", "broken::keeps_version": "OA010",
			"broken::returns_memory": "OA007", "aten::_copy_from": "how backends copy", "aten::_copy_from.out": "how backends copy",
		}
		if diff := cmp.Diff(want, seen); diff != "" || got.status != 1 {
			t.Errorf("exit status %d (-want +got):\n%s%s", got.status, diff, got.stderr)
		}
		program := "import torch, device_ops\nfor n in range(2):\n    x = torch.ones(2, 3, device=f'openreg:{n}')\n    torch.ops.broken.writes_second(torch.ones_like(x), x)\n"
		ran := run(t, "testdata", "run", "-level", "content", "-allow", allow, "--", python.Path, "-c", program)
		if ran.status != 1 || !strings.Contains(ran.stderr, ": 1 error\n") || !strings.Contains(ran.stderr, "the kernel writes argument y,") {
			t.Errorf("exit status %d\n%s", ran.status, ran.stderr)
		}
	})
}

// A program's calls on a device are recorded, of PyTorch's own ops one in N with
// contents, and check repeats them there.
func TestRecordedCallsOnDevice(t *testing.T) {
	if os.Getenv("OPASSERT_LONG") == "" {
		t.Skip("half a minute; OPASSERT_LONG=1 runs it")
	}
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		t.Setenv("DEVICE_OPS", libtorchtest.Openreg(t, "../../../..", python))
		program := "import torch, device_ops\nx = torch.ones(2, 3, device='openreg:1')\nfor _ in range(8):\n    x.abs()\ntorch.ops.broken.drops(x.t())\ntorch.ops.whole.drops(x)\n"
		cases := filepath.Join(t.TempDir(), "cases.yaml")
		ran := run(t, "testdata", "run", "-v", "-level", "content", "-sample", "4", "-record", cases, "--", python.Path, "-c", program)
		if ran.status != 1 || !strings.Contains(ran.stderr, "calls not in the sample for content") || !strings.Contains(ran.stderr, "broken::drops  argument 0 \"x\"") ||
			!strings.Contains(ran.stderr, "1 x error OA011/other-contents  broken::drops: argument x: ") {
			t.Errorf("exit status %d\n%s", ran.status, ran.stderr)
		}
		if recorded := string(must.Get(os.ReadFile(cases))(t)); !strings.Contains(recorded, "float32[3, 2] transposed") {
			t.Errorf("recorded\n%s", recorded)
		}
		got := check(t, python, "testdata", "-device", "openreg:1", "-module", "device_ops", "-cases", cases, "-n", "1", "-op", "broken::drops", "-op", "whole::drops", "-json")
		var results []asserts.Result
		must.Do(t, json.Unmarshal([]byte(got.stdout), &results))
		found := make(map[string]bool)
		for _, r := range results {
			if r.Status == asserts.Violated && strings.Contains(r.Report, "the call does not change its bytes, on cpu it changes them") {
				found[r.Op] = true
			}
		}
		if !found["broken::drops"] || len(found) != 1 || got.status != 1 {
			t.Errorf("exit status %d, found %v\n%s", got.status, found, got.stderr)
		}
	})
}
