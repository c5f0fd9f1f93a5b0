package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The example module, used as a stranger would: with an empty module cache,
// go generate brings the tool along, the committed wrappers are what it makes,
// and both builds pass. The debug build catches the bug in its clamp.
func TestExampleModule(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the command and its modules anew")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "example")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "testdata", "example"))); err != nil {
		t.Fatal(err)
	}
	user := strangersEnvironment(t)
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
	run("mod", "edit", "-replace", module+"="+root)
	if out := run("generate", "./..."); !strings.Contains(out, "5 wrappers, nothing to change") {
		t.Errorf("the committed wrappers are stale: %s", out)
	}
	run("vet", "./...")
	run("test", "-skip", "^TestOps$", "./...") // which fails, for the bug
	if out := run("test", "-v", "-skip", "^TestOps$", "-tags", "opassert", "."); !strings.Contains(out, "--- PASS: TestClampGivesItsInputBack") {
		t.Errorf("the debug build did not catch the bug:\n%s", out)
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
