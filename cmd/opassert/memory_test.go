package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
)

// Each operator with a memory fault is found with the code in its name, and correct
// ones that come close are not reported.
func TestMemory(t *testing.T) {
	long(t)
	command := libtorchtest.Command(t)
	lib := libtorchtest.Library(t, "memory", "../../testdata/oplib", "memory.cpp")
	var results []asserts.Result
	for _, some := range []string{"-n=60", "-op=astray::OA018_reads_columns", "-op=astray::OA018_reads_before_at"} { // whose cases are late
		var more []asserts.Result
		out, _ := exec.Command(command, "check", "-lib", lib, "-json", some, "-state", filepath.Join(t.TempDir(), "state")).Output()
		if err := json.Unmarshal(out, &more); err != nil {
			t.Fatal(err)
		}
		results = append(results, more...)
	}
	found, ops := make(map[string]string), make(map[string]bool)
	for _, r := range results {
		ops[r.Op] = ops[r.Op] || r.Op != ""
		if r.Code == asserts.OutOfBounds && r.Status == asserts.Passed && (r.Op == "within::large" || r.Op == "within::many") {
			t.Errorf("%s passed OA018, and not all of its memory is watched", r.Op)
		}
		if r.Status == asserts.Violated || r.Status == asserts.Noted || r.Status == asserts.Crashed {
			found[r.Op] += r.Report + "\n"
		}
	}
	for op := range ops {
		name, isAstray := strings.CutPrefix(op, "astray::")
		switch {
		case isAstray && !strings.Contains(found[op], name[:len("OA000")]+" "):
			t.Errorf("%s: found\n%s", op, found[op])
		case !isAstray && found[op] != "":
			t.Errorf("%s is correct, and has the findings\n%s", op, found[op])
		}
	}
	if len(ops) < 30 {
		t.Errorf("%d operators, want those of the library", len(ops))
	}
	for op, says := range map[string][]string{
		"OA018_reads_one_more":  {"the kernel reads byte 1 after the end of the storage of argument x, which has ", " bytes, in libtorch-"},
		"OA018_reads_before":    {"the kernel reads byte 4 before the beginning of the storage of argument x"},
		"OA018_reads_before_at": {"the kernel reads byte 4 before the beginning of the storage of argument x", "n=64)"},
		"OA018_writes_one_more": {"the kernel writes bytes 1 to 4 after the end of the storage of return 0"},
		"OA018_writes_scratch":  {"the storage of a tensor that the call made"},
		"OA019_reads_freed":     {"reads memory that was freed: byte 0 of the "},
		"OA009_restores":        {"the kernel writes byte 0 of the storage of argument x, and what it held is there again"},
		"OA021_follows_seed":    {"depend on the seed of the default generators"},
		"OA021_by_threads":      {"depend on the argument of at::set_num_threads", "  note    the rounding of floating-point sums depends on the order of their terms"},
		"OA021_drops":           {"depend on the seed of the default generators, although the call has a Generator argument", "train=true, generator=generator(7))"},
		"OA021_draws_own":       {"are random without a Generator argument, and the same with generators of two seeds"},
		"OA021_draws_anew":      {"differ between two calls with generators of the same seed"},
		"OA021_counts_together": {"differ between two calls with two threads", "  note    no schema promises that results are reproducible"},
		"OA021_by_address":      {"  note    no schema promises that results are reproducible"},
		"OA021_first_of_a_size": {"depend on the values of an earlier call", "  fix     "},
		"OA021_at_a_place":      {"depend on the values of an earlier call", "but not their address"},
	} {
		if missing := slices.IndexFunc(says, func(text string) bool { return !strings.Contains(found["astray::"+op], text) }); missing >= 0 {
			t.Errorf("%s: want %q in\n%s", op, says[missing], found["astray::"+op])
		}
	}
}

// Findings of the memory checks can be waived like others, and without watched memory
// there are none.
func TestMemoryWaivedAndOff(t *testing.T) {
	long(t)
	command := libtorchtest.Command(t)
	lib := libtorchtest.Library(t, "memory", "../../testdata/oplib", "memory.cpp")
	check := []string{"check", "-lib", lib, "-n", "30", "-state", filepath.Join(t.TempDir(), "state"), "-op", "astray::OA018_reads_one_more", "-v"}
	out, _ := exec.Command(command, check...).Output()
	_, waive, ok := strings.Cut(string(out), "\n        waive   ")
	waive, _, _ = strings.Cut(waive, "\n")
	if !ok || !strings.Contains(waive, "OA018") {
		t.Fatalf("no line to waive it in\n%s", out)
	}
	list := filepath.Join(t.TempDir(), "allow.yaml")
	if err := os.WriteFile(list, []byte("- "+waive+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(command, append(check, "-allow", list)...).Output(); err != nil {
		t.Errorf("waived: %v\n%s", err, out)
	}
	out, err := exec.Command(command, append(check, "-guard=false")...).Output() // may find that it reads other bytes each time
	if !strings.Contains(string(out), "calls of libtorch") || strings.Contains(string(out), "  error OA018") {
		t.Errorf("off: %v\n%s", err, out)
	}
}

// Without PyTorch's Python, memory faults are shown by a program in C++.
func TestMemoryProgramsInCpp(t *testing.T) {
	long(t)
	command := libtorchtest.Command(t)
	lib := libtorchtest.Library(t, "memory", "../../testdata/oplib", "memory.cpp")
	torch, _, err := installed.Find("")
	must.Do(t, err)
	root := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(root, "lib"), 0o777))
	for _, pattern := range []string{"libtorch*", "libc10*"} {
		files, _ := filepath.Glob(filepath.Join(torch.Lib, pattern))
		for _, file := range files {
			must.Do(t, os.Symlink(file, filepath.Join(root, "lib", filepath.Base(file))))
		}
	}
	must.Do(t, os.Symlink(torch.Include[0], filepath.Join(root, "include")))
	args := []string{"check", "-libtorch", root, "-lib", lib, "-n", "60", "-state", filepath.Join(t.TempDir(), "state"), "-repro", filepath.Join(t.TempDir(), "programs")}
	for _, op := range []string{"OA018_reads_one_more", "OA019_reads_earlier", "OA020_leaves_tail", "OA021_by_count", "OA009_restores"} {
		args = append(args, "-op", "astray::"+op)
	}
	out, err := exec.Command(command, args...).CombinedOutput()
	for _, code := range []string{"OA009", "OA018", "OA019", "OA020", "OA021"} {
		if !regexp.MustCompile(`\n        program .*-` + code + `-.*\.cpp: reproduced without opassert\n`).Match(out) {
			t.Errorf("%s has no program that shows it, %v:\n%s", code, err, out)
		}
	}
}
