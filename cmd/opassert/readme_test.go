package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

const root = "../.."

func readme(t *testing.T) string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(root, "README.md")))(t)
	return string(text)
}

// The README is short, its links are valid, and its scripts can be run.
func TestReadmeLinks(t *testing.T) {
	text := readme(t)
	if size := len(text); size > 8<<10 {
		t.Errorf("the README has %d bytes: what is over 8 kB belongs in package docs, or beside them", size)
	}
	prose := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
	links := regexp.MustCompile(`\]\(([^):#]+)\)`).FindAllStringSubmatch(prose, -1)
	if len(links) < 3 {
		t.Fatalf("found %d links", len(links))
	}
	for _, m := range links {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Errorf("the README links to %s, which is missing", m[1])
		}
	}
	scripts := regexp.MustCompile(`(?m)^(\.ci/\w+)`).FindAllStringSubmatch(text, -1)
	if len(scripts) < 2 {
		t.Fatalf("found %d scripts", len(scripts))
	}
	for _, m := range scripts {
		info, err := os.Stat(filepath.Join(root, m[1]))
		if err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("the README says to run %s, which can't be run", m[1])
		}
	}
}

// Every subcommand that the README names exists.
func TestReadmeCommands(t *testing.T) {
	help := must.Get(exec.Command("go", "run", "./"+root+"/cmd/opassert", "-h").Output())(t)
	named := regexp.MustCompile("(?:`|opassert/cmd/|\\./cmd/|^)opassert ([a-z]+)").FindAllStringSubmatch(readme(t), -1)
	if len(named) < 3 {
		t.Fatalf("the README names %d commands", len(named))
	}
	for _, m := range named {
		if m[1] != "help" && !strings.Contains(string(help), "\n  "+m[1]+" ") {
			t.Errorf("the README names opassert %s, which does not exist", m[1])
		}
	}
}

// New dependencies are listed here.
func TestDependencies(t *testing.T) {
	out := must.Get(exec.Command("go", "list", "-m", "-f", "{{if not (or .Main .Indirect)}}{{.Path}}{{end}}", "all").Output())(t)
	want := []string{
		"github.com/google/go-cmp",           // tests
		"github.com/ianlancetaylor/demangle", // names the C++ functions of a crash
		"github.com/rogpeppe/go-internal",    // diffs, and the command's tests
		"golang.org/x/mod",                   // tests: this module as a proxy has it
		"golang.org/x/sys",                   // memory without a file that processes share
		"golang.org/x/tools",                 // loads Go packages
		"gopkg.in/yaml.v3",                   // reads schemas
	}
	got := slices.Sorted(slices.Values(strings.Fields(string(out))))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("direct dependencies (-want +got):\n%s", diff)
	}
}
