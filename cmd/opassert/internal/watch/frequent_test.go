package watch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/cmd/opassert/internal/watch"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// Calls of the operators that programs call most have the findings that others have: contents are
// observed of boxed calls alone.
func TestFrequentOps(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		program := []string{p.path, "testdata/frequent.py", p.compiled(t, "frequent")}
		for _, flags := range [][]string{nil, {"-level", "content"}} {
			o := run(t, flags, program...)
			o.found = slices.DeleteFunc(o.found, func(f found) bool { return f.Code > "OA008" })
			if diff := cmp.Diff(expected(t, "testdata/frequent.py"), lines(o.found, false)); diff != "" || o.status != 1 {
				t.Errorf("%v: exit status %d\n%s\n%s", flags, o.status, diff, o.stderr)
			}
			for _, f := range o.found {
				if f.Count != 2 {
					t.Errorf("%v: %s of %s was found %d times", flags, f.Code, f.Op, f.Count)
				}
			}
			if want := " 2 calls raised an error of their own\n"; !strings.Contains(o.stderr, want) {
				t.Errorf("%v: not %q\n%s", flags, want, o.stderr)
			}
		}
	})
}

// An op of which nothing is checked is called as ever.
func TestPlanWithoutChecks(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		report := must.Get(watch.Run(t.Context(), watch.Config{
			Program: preload.Program{Command: []string{p.path, "-c", "import torch; torch.ones(2).add_(torch.zeros(2)).clone()"}},
			Plan:    func(_, _ string, _ *schema.Op) (engine.Checks, error) { return engine.Checks{}, nil },
			Policy:  asserts.Aware(), Sample: 1,
		}))(t)
		if report.Status != 0 || report.Calls != 4 {
			t.Errorf("exit status %d, %d calls, want 4", report.Status, report.Calls)
		}
	})
}

var (
	frequentRow = regexp.MustCompile(`(?m)^  watch_frequent<(.*)>\(\{(.*)\}\);$`)
	usingRow    = regexp.MustCompile(`(?m)^  using (\w+) = (.*);$`)
	schemaRow   = regexp.MustCompile(`(?s)using schema = (.*?);.*?name.*?= "aten::(\w+)";.*?overload_name.*?= "(\w*)";`)
	oldNames    = regexp.MustCompile(`STATIC_CONSTEXPR_STR_INL_EXCEPT_WIN_CUDA\((\w+), ("[^"]*")\)`)
)

// The signatures in registrations.cpp of the operators that programs call most are PyTorch's: with another one its calls
// would be boxed.
func TestSignaturesOfFrequentOps(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		source := string(must.Get(os.ReadFile("shim/registrations.cpp"))(t))
		types := map[string]string{"Tensor": "at::Tensor", "Scalar": "at::Scalar"}
		for _, m := range usingRow.FindAllStringSubmatch(source, -1) {
			types[m[1]] = m[2]
		}
		plain := func(signature string) string {
			for range 2 { // T is const Tensor&
				signature = regexp.MustCompile(`[\w:]+`).ReplaceAllStringFunc(signature, func(word string) string {
					if is, ok := types[word]; ok {
						return is
					}
					return word
				})
			}
			return strings.NewReplacer(" ", "", "::std::optional", "c10::optional", "::c10::", "c10::").Replace(signature)
		}
		n := 0
		for _, row := range frequentRow.FindAllStringSubmatch(source, -1) {
			for quoted := range strings.SplitSeq(row[2], ", ") {
				full := strings.Trim(quoted, `"`)
				name, overload, _ := strings.Cut(full, ".")
				header := filepath.Join(p.torch.Include[0], "ATen", "ops", strings.TrimSuffix(name, "_")+"_ops.h")
				text, err := os.ReadFile(header)
				if err != nil {
					text = must.Get(os.ReadFile(filepath.Join(p.torch.Include[0], "ATen", "ops", name+"_ops.h")))(t)
				}
				got := "nothing"
				for _, m := range schemaRow.FindAllStringSubmatch(oldNames.ReplaceAllString(string(text), "$1 = $2;"), -1) {
					if m[2] == name && m[3] == overload {
						got = plain(m[1])
					}
				}
				if want := plain(row[1]); got != want {
					t.Errorf("%s: %s, in registrations.cpp %s", full, got, want)
				}
				n++
			}
		}
		if n < 80 {
			t.Errorf("%d operators", n)
		}
	})
}
