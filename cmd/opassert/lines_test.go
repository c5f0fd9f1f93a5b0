package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

// The place of a finding is the kernel's own, and that of a fault in memory the line of the access, if the library was
// built with -g; else it is the registration's.
func TestLinesOfKernels(t *testing.T) {
	long(t)
	const registered = 38
	for _, tt := range []struct {
		flags []string
		want  map[string]int
	}{
		{nil, map[string]int{
			"lines::by_pointer": registered, "lines::by_name": registered, "lines::by_lambda": registered,
			"lines::past_end": registered, "lines::ends": registered,
		}},
		{[]string{"-g", "-O2"}, map[string]int{
			"lines::by_pointer": 9, "lines::by_name": 14, "lines::by_lambda": 52, "lines::past_end": 19, "lines::ends": 28,
		}},
	} {
		t.Run("", func(t *testing.T) {
			lib := libtorchtest.Library(t, "lines", "../../testdata/oplib", "lines.cpp", tt.flags...)
			cmd := exec.Command(libtorchtest.Command(t), "check", "-lib", lib, "-n", "12", "-json")
			cmd.Stderr = os.Stderr
			out, _ := cmd.Output()
			var results []asserts.Result
			must.Do(t, json.Unmarshal(out, &results))
			got := make(map[string]int)
			for _, r := range results {
				if r.Status == asserts.Violated || r.Status == asserts.Crashed {
					got[r.Op] = r.Site.Line
				}
				access := strings.Contains(r.Text, "SIGSEGV, in lines.cpp:31")
				if r.Op == "lines::ends" && r.Status == asserts.Crashed && access != (tt.flags != nil) {
					t.Errorf("%q: the access of %s", tt.flags, r.Text)
				}
				if r.Status == asserts.Violated && filepath.Base(r.Site.File) != "lines.cpp" {
					t.Errorf("%s: the site is %v", r.Op, r.Site)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q: lines (-want +got):\n%s", tt.flags, diff)
			}
		})
	}
}
