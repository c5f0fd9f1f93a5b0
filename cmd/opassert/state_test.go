package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

// Changes of the process's state by a kernel in C++ are noted for its op: the state
// is restored before the next call.
func TestLibraryState(t *testing.T) {
	long(t)
	command := libtorchtest.Command(t)
	lib := libtorchtest.Library(t, "state", "../../testdata/oplib", "state.cpp")
	out, err := exec.Command(command, "check", "-lib", lib, "-n", "6", "-json", "-workers", "1", "-state", filepath.Join(t.TempDir(), "state")).Output()
	if err != nil {
		t.Errorf("notes are not failures, and it ended with %v", err)
	}
	var results []asserts.Result
	must.Do(t, json.Unmarshal(out, &results))
	ops, said := map[string]bool{}, map[string]string{}
	for _, r := range results {
		ops[r.Op] = true
		if r.Code == asserts.UndeclaredWrite && r.Status == asserts.Noted {
			_, saw, _ := strings.Cut(r.Report, "\n  saw     ")
			saw, _, _ = strings.Cut(saw, "\n")
			said[r.Op] += saw
		}
	}
	for op, want := range map[string]string{
		"grad_mode":           "grad mode changed: it was true and is false",
		"inference_mode":      "inference mode changed: it was false and is true",
		"forward_gradients":   "the mode of forward gradients changed: it was true and is false",
		"dtype":               "the default dtype changed: it was Float and is Double",
		"usual_dtype":         "the default dtype changed: it was Double and is Float",
		"deterministic":       "deterministic algorithms changed: it was false and is true",
		"warn_only":           "warnings in place of errors for deterministic algorithms changed: it was false and is true",
		"mkldnn":              "the use of mkldnn changed: it was true and is false",
		"cudnn":               "the use of cuDNN changed: it was true and is false",
		"benchmark":           "the benchmarks of cuDNN changed: it was false and is true",
		"no_benchmark":        "the benchmarks of cuDNN changed: it was true and is false",
		"not_deterministic":   "deterministic algorithms changed: it was true and is false",
		"cudnn_deterministic": "the deterministic algorithms of cuDNN changed: it was false and is true",
		"precision":           "the precision of float32 products changed: it was highest and is medium",
		"autocast_dtype":      "the dtype of autocast on the CPU changed: it was BFloat16 and is Half",
		"autocast_cache":      "the cache of autocast changed: it was true and is false",
		"umask":               "the umask changed: it was ",
		"signal":              "the handling of signals changed: it was the original and is another for User defined signal 1",
		"threads":             "the number of threads changed: it was 1 and is 3",
		"rounding":            "fegetround() changed: it was ",
		"traps":               "the state of the processor changed: it was the usual one and is with exceptions for floating-point numbers",
		"direction":           "the state of the processor changed: it was the usual one and is with the direction flag",
		"denormals":           "the flushing of denormal numbers changed: it was false and is true",
		"seed":                "the seed of the default generator changed: it was ",
		"locale":              "the locale changed: it was C and is C.UTF-8",
		"folder":              "the working directory changed: it was ",
		"removed_folder":      "the working directory changed: it was ",
		"variable":            `the environment variable OMP_PROC_BIND changed: it was not set and is "true"`,
		"prints":              "the standard output got ",
		"prints_late":         "the standard output got ",
		"traces":              "calls wrote to the standard error, as called",
		"keys":                "the dispatch keys of the thread changed: it was ",
	} {
		if op == "autocast_dtype" && !ops["changes::"+op] {
			continue // before PyTorch 2.4 there is only one
		}
		if op == "direction" && runtime.GOARCH != "amd64" {
			continue // others have no such flag
		}
		if got := said["changes::"+op]; !strings.HasPrefix(got, want) || strings.Contains(got, "; ") {
			t.Errorf("%s: noted %q, want only %q", op, got, want)
		}
		delete(said, "changes::"+op)
	}
	for op, words := range said {
		t.Errorf("%s changes nothing, and noted is %q", op, words)
	}
}

// A change that can't be undone is noted as such, and only for that call.
func TestLibraryStateThatStays(t *testing.T) {
	long(t)
	command := libtorchtest.Command(t)
	lib := libtorchtest.Library(t, "state", "../../testdata/oplib", "state.cpp")
	cmd := exec.Command(command, "check", "-lib", lib, "-n", "4", "-op", "changes::removed_folder", "-op", "restores::draws", "-workers", "1", "-state", filepath.Join(t.TempDir(), "state"))
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if text := strings.Join(strings.Fields(string(out)), " "); err != nil || !strings.Contains(text, "and is /, and it can't be undone: cannot change back to ") || strings.Contains(text, "restores::") {
		t.Errorf("%v:\n%s", err, text)
	}
}

// Files that kernels leave in the working directory are in their worker's, not in the
// user's.
func TestKernelsLeaveNoFile(t *testing.T) {
	cmd := exec.Command(libtorchtest.Command(t), "check", "-engine", "libtorch", "-op", "aten::from_file", "-n", "40", "-v", "-state", filepath.Join(t.TempDir(), "state"))
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if left := must.Get(os.ReadDir(cmd.Dir))(t); err != nil || len(left) > 0 || !strings.Contains(string(out), "2 of 2 ran") {
		t.Errorf("%v, with %v in the folder:\n%s", err, left, out)
	}
}

// No case opens a file of the user's for writing, as the file's name and as what makes an argument.
func TestCasesWriteNoFile(t *testing.T) {
	command, dir := libtorchtest.Command(t), t.TempDir()
	notes, cases := filepath.Join(dir, "notes"), filepath.Join(dir, "cases.yaml")
	must.Do(t, os.WriteFile(notes, []byte("these bytes are mine"), 0o600))
	file := "aten::from_file('" + notes + "', true, 16, dtype:uint8, none, none, none)"
	text := "- ops: [fill_.Scalar]\n  cases: [{self: \"" + file + "\", value: 3}, {self: \"after aten::zero_(" + file + ")\", value: 4}]\n" +
		"- ops: [from_file]\n  cases: [{filename: \"'" + notes + "'\", shared: true, size: 8, dtype: none, layout: none, device: none, pin_memory: none}]\n"
	must.Do(t, os.WriteFile(cases, []byte(text), 0o600))
	cmd := exec.Command(command, "check", "-engine", "libtorch", "-op", "aten::fill_.Scalar", "-op", "aten::from_file", "-n", "8", "-v", "-cases", cases, "-state", filepath.Join(dir, "state"))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "would open "+notes+" for writing") < 3 {
		t.Errorf("%v:\n%s", err, out)
	}
	if now := must.Get(os.ReadFile(notes))(t); string(now) != "these bytes are mine" {
		t.Errorf("the file holds %q", now)
	}
}
