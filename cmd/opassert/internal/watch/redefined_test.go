package watch_test

import (
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

// After a program destroys an op, it can define another one of the same name.
func TestRedefined(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		alone := must.Get(exec.Command(p.path, "testdata/redefined.py").Output())(t)
		o := run(t, nil, p.path, "testdata/redefined.py")
		if diff := cmp.Diff(string(alone), o.stdout); diff != "" || o.status != 0 {
			t.Errorf("alone and watched: %s\nexit status %d\n%s", diff, o.status, o.stderr)
		}
	})
}
