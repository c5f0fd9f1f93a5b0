package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gomodule "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

// The example module, as a new user builds it: with an empty module cache, go
// generate fetches the tool, the committed wrappers are up to date, and both builds
// pass. The debug build catches the bug in its clamp.
func TestExampleModule(t *testing.T) {
	long(t)
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
	run("test", "-skip", "^TestOps$", "./...") // it fails because of the bug
	if out := run("test", "-v", "-skip", "^TestOps$", "-tags", "opassert", "."); !strings.Contains(out, "--- PASS: TestClampGivesItsInputBack") {
		t.Errorf("the debug build did not catch the bug:\n%s", out)
	}
}

// copyModule copies a module of testdata to a folder of its own.
func copyModule(t *testing.T, name string) string {
	t.Helper()
	root := must.Get(filepath.Abs("../.."))(t)
	dir := filepath.Join(t.TempDir(), name)
	must.Do(t, os.CopyFS(dir, os.DirFS(filepath.Join(root, "testdata", name))))
	cmd := exec.Command("go", "mod", "edit", "-replace", module+"="+root)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// opassert check finds exactly the bugs of each module.
func TestCheckModules(t *testing.T) {
	for name, want := range map[string][]string{
		"example": {"OA007 aten::clamp"},
		"gonum":   {"OA007 aten::relu", "OA009 aten::relu", "OA015 aten::neg_"},
		"spago":   {"OA007 aten::ravel", "OA009 aten::ravel"},
		"arrow":   {"OA002 aten::abs", "OA007 aten::reciprocal", "OA009 aten::nan_to_num", "OA016 aten::neg"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "example" {
				long(t)
			}
			dir := copyModule(t, name)
			run := func(name string, args ...string) (string, error) {
				cmd := exec.Command(name, args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
				out, err := cmd.Output()
				return string(out), err
			}
			if _, err := run("go", "mod", "download"); err != nil {
				t.Skipf("its modules can't be fetched here: %v", err)
			}
			out, err := run("opassert", "check", "-json")
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Fatalf("%v, want exit status 1", err)
			}
			var results []asserts.Result
			must.Do(t, json.Unmarshal([]byte(out), &results))
			var got []string
			for _, r := range results {
				if r.Status == asserts.Violated || r.Status == asserts.Crashed {
					got = append(got, r.Code.String()+" "+r.Op)
				}
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("found %v, want %v", got, want)
			}
			if want := `"file": "kernels/kernels.go"`; !strings.Contains(out, want) {
				t.Errorf("no result is at %s", want)
			}
			out, err = run("go", "test", "-v", "-tags", "opassert", "-skip", "^(Test|Fuzz)Ops$", ".") // they fail because of the bug
			if _, missing := os.Stat(filepath.Join(dir, "wrappers_test.go")); err != nil || missing == nil && !strings.Contains(out, "--- PASS: TestWrappers ") {
				t.Errorf("its tests of the debug build: %v\n%s", err, out)
			}
		})
	}
}

// The commands of the example's workflow, unchanged: they report its bug, in every
// form, and fail only because of it.
func TestWorkflow(t *testing.T) {
	long(t)
	dir := copyModule(t, "example")
	text := must.Get(os.ReadFile(filepath.Join(dir, ".github/workflows/opassert.yml")))(t)
	type steps struct {
		Strategy struct{ Matrix struct{ Shard []string } }
		Steps    []struct{ Uses, Run string }
	}
	var workflow struct{ Jobs struct{ Check, Report steps } }
	must.Do(t, yaml.Unmarshal(text, &workflow))
	run := func(job steps, shard string) (string, error) {
		var script []string
		for _, s := range job.Steps {
			script = append(script, strings.ReplaceAll(s.Run, "${{ matrix.shard }}", shard))
		}
		cmd := exec.Command("bash", "-e", "-c", strings.Join(script, "\n"))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, shard := range workflow.Jobs.Check.Strategy.Matrix.Shard {
		if out, err := run(workflow.Jobs.Check, shard); err != nil {
			t.Fatalf("shard %s: %v\n%s", shard, err, out)
		}
	}
	out, err := run(workflow.Jobs.Report, "")
	if err == nil || !strings.Contains(out, "kernels.Clamp   kernels/kernels.go:") || !strings.Contains(out, "  error OA007  ") || !strings.Contains(out, "1 error in 1 of ") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range []string{"report.xml", "report.sarif", "report.html"} {
		if report, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(report), "OA007") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The page's quick start, literally, in an empty folder: with a published module from a
// proxy, beside a clone, and in a workspace, whose kernels are also found from its root.
// The page's other files build with it.
func TestGoQuickStart(t *testing.T) {
	long(t)
	text := string(must.Get(os.ReadFile(filepath.Join(root, "docs/start/go.md")))(t))
	start, more, _ := strings.Cut(text, "\n## In your tests\n")
	begin := regexp.MustCompile("after `(go mod init .*)`").FindStringSubmatch(text)
	steps := regexp.MustCompile("(?s)```\n(go get -tool [^\n]*\n)(.*?)```").FindStringSubmatch(text)
	clones := regexp.MustCompile("(?s)```\n(go (?:mod edit|work init) .*?)```").FindAllStringSubmatch(text, -1)
	if begin == nil || steps == nil || len(clones) != 2 {
		t.Fatalf("no commands in\n%s", text)
	}
	clone := must.Get(filepath.Abs(root))(t)
	for name, bring := range map[string]string{"published": steps[1], "replace": clones[0][1], "workspace": clones[1][1]} {
		t.Run(name, func(t *testing.T) {
			dir, env := filepath.Join(t.TempDir(), "vector"), append(offlineEnvironment(t), "GOWORK=", "GOFLAGS=")
			if name == "published" {
				env = append(publishedEnvironment(t), "GOWORK=")
			}
			run := func(script string) string {
				cmd := exec.Command("bash", "-c", strings.ReplaceAll(script, "../opassert", clone))
				cmd.Dir, cmd.Env = dir, env
				out, err := cmd.CombinedOutput()
				if err != nil && !strings.Contains(script, "-tags opassert") {
					t.Fatalf("%v\n%s", err, out)
				}
				return string(out)
			}
			writeFiles(t, dir, start)
			run("set -e\n" + begin[1] + "\n" + bring)
			out := run(steps[2])
			for _, want := range []string{
				"wrote ../ops/opassert_gen.go: 1 wrappers", "wrote ../ops/opassert_release_gen.go", "\n  error OA007  ", "\n1 error in 1 of 1 op",
				"ok  \texample.com/vector", "panic: OA007 undeclared-alias  ops.Clone", "site    vector_test.go:10 (example.com/vector_test.TestClone)",
			} {
				if !strings.Contains(out, want) {
					t.Fatalf("want %q in\n%s", want, out)
				}
			}
			if packages := run("go list -deps ./ops ./kernels ."); strings.Contains(packages, module) {
				t.Errorf("the release build has packages of %s:\n%s", module, packages)
			}
			writeFiles(t, dir, more)
			for test, want := range map[string]string{
				"go test": "ok  \texample.com/vector", "go test -tags opassert -run TestCloneFails": "failure_test.go:14: OA007 undeclared-alias",
				"go test -tags opassert -run TestOps": "--- FAIL: TestOps/aten::clone", "go test -tags opassert -run FuzzOps": "--- FAIL: FuzzOps",
			} {
				if out := run(test); !strings.Contains(out, want) {
					t.Errorf("%s: want %q in\n%s", test, want, out)
				}
			}
			if name == "workspace" { // at its root, which is not a module
				out := run("rm go.work && cd .. && go work init ./vector ../opassert && go tool opassert vet && (go tool opassert check || test $? = 1)")
				if !strings.Contains(out, "opassert: Go kernels of example.com/vector/ops; ") || !strings.Contains(out, "  error OA007  ") {
					t.Errorf("at the root of the workspace:\n%s", out)
				}
			}
		})
	}
}

// writeFiles writes the files in a page's text into a folder.
func writeFiles(t *testing.T, dir, text string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?s)```(?:go|yaml)\n(?://|#) (\\S+)\n(.*?)```").FindAllStringSubmatch(text, -1) {
		path := filepath.Join(dir, m[1])
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(m[2]), 0o666)))
	}
}

// strangersEnvironment has an empty module cache.
func strangersEnvironment(t *testing.T) []string {
	return append(offlineEnvironment(t), "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw")
}

// publishedEnvironment has a proxy with a version of this module.
func publishedEnvironment(t *testing.T) []string {
	t.Helper()
	const version = "v0.9.0"
	proxy := t.TempDir()
	at := filepath.Join(proxy, module, "@v")
	must.Do(t, os.MkdirAll(at, 0o777))
	archive := must.Get(os.Create(filepath.Join(at, version+".zip")))(t)
	must.Do(t, errors.Join(zip.CreateFromDir(archive, gomodule.Version{Path: module, Version: version}, root), archive.Close()))
	for name, text := range map[string][]byte{
		"list": []byte(version), version + ".info": []byte(`{"Version": "` + version + `"}`),
		version + ".mod": must.Get(os.ReadFile(filepath.Join(root, "go.mod")))(t),
	} {
		must.Do(t, os.WriteFile(filepath.Join(at, name), text, 0o666))
	}
	env := strangersEnvironment(t)
	proxies := "GOPROXY=file://" + proxy + ","
	for _, v := range env {
		if fetched, ok := strings.CutPrefix(v, "GOPROXY=file"); ok {
			proxies += "file" + fetched
		}
	}
	return append(env, proxies)
}

// offlineEnvironment makes the go command fetch from this machine's module cache.
func offlineEnvironment(t *testing.T) []string {
	out := must.Get(exec.Command("go", "env", "GOMODCACHE").Output())(t)
	downloads := filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
	return append(os.Environ(), "GOPROXY=file://"+downloads,
		"GONOSUMDB=*", "GONOSUMCHECK=1", "GOWORK=off")
}
