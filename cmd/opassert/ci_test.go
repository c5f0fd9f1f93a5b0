package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/internal/dev/must"
)

// Eight commits in a row run every part of what CI draws by the count of commits.
func TestPartsOfCI(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	of := make(map[string]int)             // parts of a step
	ran := make(map[string]map[string]int) // how often each ran
	for count := 1234; count < 1234+8; count++ {
		plan := must.Get(exec.Command("bash", filepath.Join(root, ".ci", "run"), "-plan", strconv.Itoa(count)).Output())(t)
		for _, m := range regexp.MustCompile(`(?m)^(\w+) (\d+)/(\d+)`).FindAllStringSubmatch(string(plan), -1) {
			of[m[1]] = must.Get(strconv.Atoi(m[3]))(t)
			if ran[m[1]] == nil {
				ran[m[1]] = make(map[string]int)
			}
			ran[m[1]][m[2]]++
		}
	}
	if len(of) < 4 {
		t.Fatalf("the plan has %d steps", len(of))
	}
	for step, n := range of {
		for part := 1; part <= n; part++ {
			if ran[step][strconv.Itoa(part)] == 0 {
				t.Errorf("eight commits do not run part %d/%d of %s", part, n, step)
			}
		}
	}
}

// The workflow of GitHub runs every step of .ci/run, and the issue forms can be read.
func TestFilesOfGitHub(t *testing.T) {
	t.Parallel()
	read := func(file string, into any) {
		t.Helper()
		must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile(file))(t), into))
	}
	var workflow struct {
		Jobs map[string]struct {
			Strategy struct{ Matrix struct{ Step []string } }
		}
	}
	read(filepath.Join(root, ".github/workflows/ci.yml"), &workflow)
	run := must.Get(os.ReadFile(filepath.Join(root, ".ci/run")))(t)
	steps := regexp.MustCompile(`(?m)^steps=\((.*)\)$`).FindSubmatch(run)
	if steps == nil {
		t.Fatal(".ci/run has no steps")
	}
	if diff := cmp.Diff(strings.Fields(string(steps[1])), workflow.Jobs["step"].Strategy.Matrix.Step); diff != "" {
		t.Errorf("steps of .ci/run, and of the workflow (-, +):\n%s", diff)
	}
	for _, file := range must.Get(filepath.Glob(filepath.Join(root, ".github/ISSUE_TEMPLATE/*.yml")))(t) {
		var form struct {
			Name, Description string
			Body              []struct{ Type string }
		}
		if read(file, &form); form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s is no issue form: it lacks a name, a description or a body", file)
		}
	}
}

// The action trusts the settings of its workspace, which in a container belong to another user.
func TestActionTrustsItsWorkspace(t *testing.T) {
	t.Parallel()
	var action struct {
		Runs struct{ Steps []struct{ Run string } }
	}
	must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile(filepath.Join(root, "action.yml")))(t), &action))
	told := 0
	for _, step := range action.Runs.Steps[1:] {
		script := "opassert() { printf %s \"$OPASSERT_SAFE_DIRECTORY\"; }; python() { opassert; }\n" + step.Run
		cmd := exec.Command("bash", "-e", "-c", script)
		cmd.Env = append(os.Environ(), "GITHUB_WORKSPACE=/__w/lib", "OPASSERT_SAFE_DIRECTORY=/own")
		if out := must.Get(cmd.Output())(t); string(out) != "/__w/lib:/own" {
			t.Errorf("%q is trusted in\n%s", out, step.Run)
		}
		told++
	}
	if told != 2 {
		t.Errorf("%d steps run opassert, want 2", told)
	}
}
