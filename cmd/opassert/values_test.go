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

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

// A default run finds every op of a library whose ops break a promise for one kind of
// value each, with any seed, and no others.
func TestEveryValueClassIsTried(t *testing.T) {
	long(t)
	command, _ := tool(t)
	lib := libtorchtest.Library(t, "values", "../../testdata/oplib", "values.cpp")
	source := must.Get(os.ReadFile("../../testdata/oplib/values.cpp"))(t)
	planted, _, _ := strings.Cut(string(source), "TORCH_LIBRARY(whole")
	var want []string
	for _, m := range regexp.MustCompile(`(?:TENSOR|FORM)\((\w+), |m\.def\("(\w+)\(`).FindAllStringSubmatch(planted, -1) {
		if name := m[1] + m[2]; name != "name" {
			want = append(want, "values::"+name)
		}
	}
	slices.Sort(want)
	if len(want) < 114 {
		t.Fatalf("%d planted ops, want 114 or more", len(want))
	}
	for _, seed := range []string{"1", "2"} {
		cmd := exec.Command(command, "check", "-lib", lib, "-n", "all", "-seed", seed, "-json", "-state", filepath.Join(t.TempDir(), "state"))
		out, err := cmd.Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Fatalf("the command ended with %v; findings are status 1", err)
		}
		var results []asserts.Result
		must.Do(t, json.Unmarshal(out, &results))
		var got []string
		for _, r := range results {
			if r.Status == asserts.Violated && r.Code != asserts.SchemaLint || r.Status == asserts.Crashed {
				got = append(got, r.Op)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
			t.Errorf("seed %s: broken ops (-planted +found):\n%s", seed, diff)
		}
	}
}
