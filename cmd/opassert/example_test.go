package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// The example module, used as a stranger would: with an empty module cache,
// go generate brings the tool along, the committed wrappers are what it makes,
// and both builds pass. The debug build catches the bug in its clamp.
func TestExampleModule(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the command and its modules anew")
	}
	dir, user := copyModule(t, "example"), strangersEnvironment(t)
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, user
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if out := run("generate", "./..."); !strings.Contains(out, "5 wrappers, nothing to change") {
		t.Errorf("the committed wrappers are stale: %s", out)
	}
	run("vet", "./...")
	run("test", "-skip", "^TestOps$", "./...") // which fails, for the bug
	if out := run("test", "-v", "-skip", "^TestOps$", "-tags", "opassert", "."); !strings.Contains(out, "--- PASS: TestClampGivesItsInputBack") {
		t.Errorf("the debug build did not catch the bug:\n%s", out)
	}
}

// copyModule copies a module of testdata to where it stands alone.
func copyModule(t *testing.T, name string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "testdata", name))); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "mod", "edit", "-replace", module+"="+root)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// Nothing but opassert check finds the bug of each module, and no other.
func TestCheckModules(t *testing.T) {
	for name, want := range map[string][]string{
		"example": {"OA007 aten::clamp"},
		"gonum":   {"OA007 aten::relu", "OA009 aten::relu"},
		"spago":   {"OA007 aten::ravel", "OA009 aten::ravel"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyModule(t, name)
			run := func(name string, args ...string) (string, error) {
				cmd := exec.Command(name, args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
				out, err := cmd.Output()
				return string(out), err
			}
			if _, err := run("go", "mod", "download"); err != nil {
				t.Skipf("its modules can't be had here: %v", err)
			}
			out, err := run("opassert", "check", "-json")
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Fatalf("%v, want exit status 1", err)
			}
			var results []asserts.Result
			if err := json.Unmarshal([]byte(out), &results); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range results {
				if r.Status == asserts.Violated || r.Status == asserts.Crashed {
					got = append(got, r.Code.String()+" "+r.Op)
				}
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("found %v, want %v", got, want)
			}
			if want := `"File": "kernels/kernels.go"`; !strings.Contains(out, want) {
				t.Errorf("no result is at %s", want)
			}
		})
	}
}

// strangersEnvironment has an empty module cache; what the go command fetches
// into it comes from the files that this machine has fetched before.
func strangersEnvironment(t *testing.T) []string {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	downloads := filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
	return append(os.Environ(), "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw", "GOPROXY=file://"+downloads,
		"GONOSUMDB=*", "GONOSUMCHECK=1", "GOWORK=off")
}
