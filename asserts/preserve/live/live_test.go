package live

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/opassert/opassert/asserts/libtorch/installed"
	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/asserts/preserve/trace"
)

// Tests of whole programs run on each Python of $OPASSERT_PYTHONS, a list as
// $PATH is, or else on the python3 of the path. Where there is no PyTorch they
// are skipped, or fail with OPASSERT_NEED_PYTORCH=1.
var pythons = sync.OnceValues(func() (map[string]string, error) {
	paths := filepath.SplitList(os.Getenv("OPASSERT_PYTHONS"))
	if len(paths) == 0 {
		paths = []string{"python3"}
	}
	all := map[string]string{}
	for _, path := range paths {
		out, err := exec.Command(path, "-c", "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])").Output()
		if err != nil {
			return nil, fmt.Errorf("%s has no PyTorch", path)
		}
		torch, err := installed.Inspect(strings.TrimSpace(string(out)))
		if err != nil {
			return nil, err
		}
		all[torch.Number()] = path
	}
	return all, nil
})

func eachPython(t *testing.T, test func(t *testing.T, python, version string)) {
	t.Helper()
	all, err := pythons()
	if err != nil {
		if os.Getenv("OPASSERT_NEED_PYTORCH") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for version, path := range all {
		t.Run(version, func(t *testing.T) { test(t, path, version) })
	}
}

// A ran is what became of a program.
type ran struct {
	*Report
	out string
	log trace.Report
}

func runProgram(t *testing.T, python string, args ...string) ran {
	t.Helper()
	var out, log bytes.Buffer
	program := Program{Command: append([]string{python}, args...), Stdout: &out, Stderr: &out}
	report, err := Run(t.Context(), program, Config{Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	for _, trouble := range report.Troubles {
		t.Error(trouble)
	}
	r := trace.NewReader(func(trace.Life) {})
	r.Write(log.Bytes())
	return ran{report, out.String(), r.Close()}
}

func TestHealthyPrograms(t *testing.T) {
	eachPython(t, func(t *testing.T, python, version string) {
		r := runProgram(t, python, "testdata/healthy.py")
		if r.Status != 0 || !strings.Contains(r.out, "done") {
			t.Fatalf("status %d\n%s", r.Status, r.out)
		}
		for _, f := range r.Findings {
			t.Error(f.Report())
		}
		for _, v := range r.log.Violations {
			t.Errorf("the log: %s at line %d: %s", v.Code, v.Line, v.Saw())
		}
		if r.Processes < 4 || r.Events < 1000 || r.Lost > 0 || r.log.Unknown > 0 {
			t.Errorf("%d processes, %d events, %d lost; %d lines unknown: %v", r.Processes, r.Events, r.Lost, r.log.Unknown, r.log.Samples)
		}
		t.Log(r.Summary())
	})
}

func TestFaultsOfPrograms(t *testing.T) {
	type codes []preserve.Code
	lost := codes{preserve.DoubleRelease, preserve.SharedDealloc}
	eachPython(t, func(t *testing.T, python, version string) {
		second := !slices.ContainsFunc([]string{"1.", "2.0", "2.1.", "2.2.", "2.3.", "2.4.", "2.5.", "2.6.", "2.7.", "2.8.", "2.9."},
			func(p string) bool { return strings.HasPrefix(version, p) })
		for _, tt := range []struct {
			kind  string
			want  codes
			first bool // of the first protocol alone
		}{
			{"double_release", lost, false},
			{"second_object", codes{preserve.SameObject}, false},
			{"stale_slot", codes{preserve.UseAfter}, false},
			{"wrong_tag", codes{preserve.OneInterpreter}, true},
			{"hermetic", codes{preserve.Hermetic, preserve.SharedDealloc, preserve.SharedDealloc}, true},
		} {
			if tt.first && second || tt.kind == "hermetic" && strings.HasPrefix(version, "1.") {
				continue
			}
			t.Run(tt.kind, func(t *testing.T) {
				r := runProgram(t, python, "testdata/faults.py", tt.kind)
				var got codes
				for _, f := range r.Findings {
					got = append(got, f.Code)
				}
				want := tt.want
				if second && tt.kind == "double_release" {
					want = want[:1] // that PyTorch notices, and aborts
				}
				if !slices.Equal(got, want) {
					t.Errorf("got %v, want %v\n%s", got, want, r.out)
				}
				for _, f := range r.Findings {
					if f.Root == nil && len(f.Below) != len(want)-1 {
						t.Errorf("%d findings follow from %s, want %d", len(f.Below), f.Code, len(want)-1)
					}
					if slices.Contains(codes{preserve.SharedDealloc, preserve.Hermetic}, f.Code) && (f.Site == nil || !strings.HasSuffix(f.Site.File, "faults.py")) {
						t.Errorf("%s at %v: want a line of faults.py", f.Code, f.Site)
					}
				}
			})
		}
	})
}
