package optest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// modules are libraries as their authors would set them up, each with a bug or more. All but one
// use tensor types of other modules.
var modules = map[string]struct {
	failed []string // the subtests that fail
	codes  []string // their codes
	unread []string // features that the library does not have
}{
	"example": {[]string{"aten::clamp"}, []string{"OA007"}, []string{"dtype float32", "strides"}},
	"gonum":   {[]string{"aten::neg_", "aten::relu"}, []string{"OA007", "OA009", "OA015"}, []string{"dtype float32", "tensors of 1 dimensions"}},
	"spago":   {[]string{"aten::ravel"}, []string{"OA007", "OA009"}, []string{"dtype float64", "tensors of 1 dimensions"}},
	"arrow": {[]string{"aten::abs", "aten::nan_to_num", "aten::neg", "aten::reciprocal"}, []string{"OA002", "OA007", "OA009", "OA016"},
		[]string{"it was released once too often, number of references 1 -> 0", "number of references 1 -> 2", "self.parts.validity", "dtype float32"}},
}

var (
	failed = regexp.MustCompile(`(?m)^    --- FAIL: TestOps/(\S+)`)
	codes  = regexp.MustCompile(`(?m)^\s+\w+\.go:\d+: (OA\d+) `)
)

// The suite finds the bug of each library, and no other.
func TestModules(t *testing.T) {
	for name, want := range modules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copyModule(t, name)
			if out, err := command(dir, "go", "mod", "download"); err != nil {
				t.Skipf("its modules can't be had here: %s", out)
			}
			out, err := command(dir, "go", "test", "-tags", "opassert", "-run", "TestOps", ".")
			if err == nil {
				t.Fatalf("passed, with a bug:\n%s", out)
			}
			if got := found(failed, out); !slices.Equal(got, want.failed) {
				t.Errorf("%v failed, want %v\n%s", got, want.failed, out)
			}
			if got := found(codes, out); !slices.Equal(got, want.codes) {
				t.Errorf("reported %v, want %v\n%s", got, want.codes, out)
			}
			for _, what := range append(want.unread, "repro   go test -tags opassert -run '^TestOps$/^"+want.failed[0]+"$'", "call    "+strings.TrimPrefix(want.failed[0], "aten::")+"(self=") {
				if !strings.Contains(out, what) {
					t.Errorf("%q is not in\n%s", what, out)
				}
			}
		})
	}
}

// copyModule copies a module of testdata to a temporary folder.
func copyModule(t *testing.T, name string) string {
	t.Helper()
	root := must.Get(filepath.Abs("../.."))(t)
	dir := filepath.Join(t.TempDir(), name)
	must.Do(t, os.CopyFS(dir, os.DirFS(filepath.Join(root, "testdata", name))))
	if out, err := command(dir, "go", "mod", "edit", "-replace", "github.com/opassert/opassert="+root); err != nil {
		t.Fatal(out)
	}
	return dir
}

func command(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// found returns what a pattern's group matches, sorted, without duplicates.
func found(pattern *regexp.Regexp, text string) []string {
	var all []string
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}
