package watch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What only Python's collector frees is no reference that an op keeps, whether the program has disabled the collector
// or not; of many calls it is not run after each.
func TestCollectedReferences(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		for _, collector := range []string{"enabled", "disabled"} {
			o := run(t, nil, p.path, "testdata/collected.py", collector)
			if diff := cmp.Diff(expected(t, "testdata/collected.py"), lines(o.found, true)); diff != "" || o.status != 1 {
				t.Errorf("%s: exit status %d: %s\n%s", collector, o.status, diff, o.stderr)
			}
			if want := fmt.Sprintf("3 %s\n", map[string]string{"enabled": "True", "disabled": "False"}[collector]); o.stdout != want {
				t.Errorf("%s: printed is %q, want %q", collector, o.stdout, want)
			}
			if !strings.Contains(o.stderr, "skipped OA003 ") || !strings.Contains(o.stderr, ": Python's collector freed such references") {
				t.Errorf("%s: the calls after which the collector was not run are not counted\n%s", collector, o.stderr)
			}
		}
	})
}
