package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/gen/vet"
	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/slicesx"
)

// promises are the kinds of promises of a schema, and the checks of each.
var promises = []struct {
	name, rule string
	codes      asserts.Codes
}{
	{"objects", "an argument stays the TensorImpl and StorageImpl that was passed, and a return marked (a!) is that argument",
		asserts.CodesOf(asserts.InputImpl, asserts.InputStorage, asserts.ReturnedSelf)},
	{"fresh", "a return without an alias set is new, and the call leaves no reference behind",
		asserts.CodesOf(asserts.FreshImpl, asserts.FreshStorage, asserts.KeptArgument)},
	{"aliases", "storages are shared if the alias sets declare it, and only then",
		asserts.CodesOf(asserts.ViewStorage, asserts.UndeclaredAlias, asserts.OutputAlias)},
	{"writes", "only an argument marked (a!) changes: its elements alone, in its shape, with its version",
		asserts.CodesOf(asserts.UndeclaredWrite, asserts.VersionBump, asserts.InplaceMetadata, asserts.WriteBeside)},
	{"kernels", "the kernels for Meta and autograd agree with the one that runs, and the schema with itself",
		asserts.CodesOf(asserts.MetaAlias, asserts.SchemaLint, asserts.AutogradKernel, asserts.NondeterministicResult)},
	{"memory", "kernels keep to the memory of their tensors, and write all that they return",
		asserts.CodesOf(asserts.WithinStorage, asserts.OutOfBounds, asserts.UseAfterFree, asserts.UninitialisedResult)},
}

// Each check has its place in the tables.
func TestPromisesHaveEveryCheck(t *testing.T) {
	left := asserts.AllCodes
	for _, p := range promises {
		left &^= p.codes
	}
	if left.String() != "" {
		t.Errorf("add %v to promises, above", left)
	}
}

// The README's table of promises has the code of every check, without names, to leave
// room for new ones.
func TestReadmeHasEveryCheck(t *testing.T) {
	var want strings.Builder
	for _, p := range promises {
		codes := slicesx.Map(slices.Collect(p.codes.All()), asserts.Code.String)
		fmt.Fprintf(&want, "| %s | %s |\n", p.rule, strings.Join(codes, ", "))
	}
	if *golden.Update {
		table := regexp.MustCompile(`(?m)(^\| .* \| OA\d.* \|\n)+`)
		must.Do(t, os.WriteFile(filepath.Join(root, "README.md"), table.ReplaceAllLiteral([]byte(readme(t)), []byte(want.String())), 0o666))
	}
	if !strings.Contains(readme(t), want.String()) {
		t.Errorf("README.md has no table\n%s", &want)
	}
}

// The page of checks, which opassert help checks prints, has a table for each kind of promise.
func TestChecksPage(t *testing.T) {
	var want strings.Builder
	table := func(title string) {
		fmt.Fprintf(&want, "## %s\n\n| code | name | level | rule |\n|---|---|---|---|\n", title)
	}
	row := func(code, name, level, rule any) {
		fmt.Fprintf(&want, "| %v | %-23v | %-8v | %v |\n", code, name, level, rule)
	}
	for _, p := range promises {
		table(p.name + ": " + p.rule)
		for c := range p.codes.All() {
			row(c, c.Name(), map[bool]string{true: "lint", false: c.Level().String()}[c.Level() == asserts.Off], c.Rule())
			if of := c.Symptoms(); len(of) > 0 {
				names := slicesx.Join(of, ", ", func(r asserts.SymptomRow) string { return string(r.Symptom) })
				fmt.Fprintf(&want, "|||| symptoms: %s |\n", names)
			}
		}
		want.WriteString("\n")
	}
	table("Python objects: `opassert run -preserve`, `opassert trace`")
	for c := preserve.SameObject; int(c) < preserve.NumCodes; c++ {
		row(c, c.Name(), "preserve", c.Rule())
	}
	want.WriteString("\n")
	table("Kernels' code: `opassert vet`")
	for _, f := range vet.Findings() {
		row(f.Code, f.Name, "vet", f.Rule)
	}
	want.WriteString("\n## Error or note\n")
	path := filepath.Join(root, "docs/reference/checks.md")
	page := string(must.Get(os.ReadFile(path))(t))
	if *golden.Update {
		begin, end := strings.Index(page, "\n## "), strings.Index(page, "\n## Error or note\n")
		page = page[:begin+1] + want.String() + page[end+len("\n## Error or note\n"):]
		must.Do(t, os.WriteFile(path, []byte(page), 0o666))
	}
	if !strings.Contains(page, want.String()) {
		t.Errorf("%s has no tables\n%s", path, &want)
	}
}

// The table lists every symptom that a check, a probe or the Python host reports, and no other.
func TestSymptomsAreThoseOfFindings(t *testing.T) {
	constant := regexp.MustCompile(`(?m)^\t(\w+) +Symptom = "(.*)"$`)
	compares := regexp.MustCompile(`==|!=|case |^\s*//|^\t\w+ +Symptom = "`)
	given := regexp.MustCompile(`(?:[Ss]ymptom(?:: | = |=)|nondeterminism\(|lostWrite\(|linted\(.*, |inference, |leaf, )"([a-z-]+)"`)
	constants := constant.FindAllStringSubmatch(string(must.Get(os.ReadFile(filepath.Join(root, "asserts/code_symptom.go")))(t)), -1)
	found, listed := map[string]bool{}, map[string]bool{}
	read := func(file string, _ os.DirEntry, err error) error {
		if ext := filepath.Ext(file); ext != ".go" && ext != ".py" || strings.Contains(filepath.Base(file), "test") {
			return err
		}
		for line := range strings.Lines(string(must.Get(os.ReadFile(file))(t))) {
			if compares.MatchString(line) {
				continue
			}
			for _, m := range given.FindAllStringSubmatch(line, -1) {
				found[m[1]] = true
			}
			for _, m := range constants {
				if regexp.MustCompile(`\b` + m[1] + `\b`).MatchString(line) {
					found[m[2]] = true
				}
			}
		}
		return err
	}
	for _, folder := range []string{"asserts", "cmd/opassert/internal/torch"} {
		must.Do(t, filepath.WalkDir(filepath.Join(root, folder), read))
	}
	for c := range asserts.AllCodes.All() {
		for _, r := range c.Symptoms() {
			listed[string(r.Symptom)] = true
		}
	}
	if diff := cmp.Diff(found, listed); diff != "" {
		t.Errorf("asserts/symptoms.txt (+) has other symptoms than findings (-):\n%s", diff)
	}
}

// The page of a run lists every check.
func TestPageHasEveryCheck(t *testing.T) {
	var page bytes.Buffer
	must.Do(t, new(report.Report).WriteHTML(&page))
	for c := range asserts.AllCodes.All() {
		if !strings.Contains(page.String(), c.String()+" "+c.Name()) {
			t.Errorf("the page has no line for %v %s", c, c.Name())
		}
	}
}

// A check has one file, of its name, and every such file one check.
func TestEveryCheckHasItsFile(t *testing.T) {
	files := map[string]bool{}
	all := must.Get(filepath.Glob(filepath.Join(root, "asserts/check_*.go")))(t)
	for _, file := range all {
		files[filepath.Base(file)] = !strings.HasSuffix(file, "_test.go")
	}
	for c := range asserts.AllCodes.All() {
		file := "check_" + strings.ReplaceAll(c.Name(), "-", "_") + ".go"
		text, err := os.ReadFile(filepath.Join(root, "asserts", file))
		if err != nil || !bytes.Contains(text, []byte(c.Name())) {
			t.Errorf("%v %s is not in asserts/%s: %v", c, c.Name(), file, err)
		}
		delete(files, file)
	}
	for file, source := range files {
		if source {
			t.Errorf("asserts/%s has no check of that name", file)
		}
	}
}
