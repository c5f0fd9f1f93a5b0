package watch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The work of a collective has its result until it is waited for: then nothing is said of counts and bytes of that
// tensor, and all of others.
func TestPendingCollectives(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		if strings.HasPrefix(p.torch.Number(), "1.") {
			t.Skip("1.13 has no functional collectives")
		}
		program := []string{p.path, "-W", "ignore", "testdata/collectives.py"}
		const reason = ": the pending work of a collective has the tensor until wait_tensor\n"
		for _, flags := range [][]string{nil, {"-level", "content", "-sample", "1"}} {
			o := run(t, flags, append(program, "collectives", "data_parallel", "distributed_tensors", "fully_sharded", "compiled")...)
			if len(o.found) > 0 || o.status != 0 || o.stdout != "done\n" || !strings.Contains(o.stderr, reason) {
				t.Errorf("%v: exit status %d, output %q\n%s", flags, o.status, o.stdout, o.stderr)
			}
			o = run(t, flags, append(program, "faults")...)
			if diff := cmp.Diff(expected(t, "testdata/collectives.py"), lines(o.found, true)); diff != "" || o.status != 1 || o.stdout != "done\n" {
				t.Errorf("%v: exit status %d, output %q: %s\n%s", flags, o.status, o.stdout, diff, o.stderr)
			}
		}
	})
}

// Fakes are called under symbolic sizes for tensors of any strides.
func TestSymbolicFakes(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		if strings.HasPrefix(p.torch.Number(), "1.") {
			t.Skip("1.13 has no register_fake")
		}
		o := run(t, nil, p.path, "testdata/symbolic_fakes.py")
		if diff := cmp.Diff(expected(t, "testdata/symbolic_fakes.py"), lines(o.found, true)); diff != "" || o.status != 1 {
			t.Errorf("exit status %d: %s\n%s", o.status, diff, o.stderr)
		}
	})
}

// An operator is seen from its first call on, and one of which no call is seen is not said to be never called.
func TestCalledAtOnce(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		o := run(t, nil, p.path, "testdata/early.py")
		if diff := cmp.Diff(expected(t, "testdata/early.py"), lines(o.found, true)); diff != "" || o.status != 1 {
			t.Errorf("exit status %d: %s\n%s", o.status, diff, o.stderr)
		}
		if !strings.Contains(o.stderr, "\n  not seen early::past: never called, or past the watcher's keys\n") {
			t.Errorf("the op called past the watcher's keys is not listed:\n%s", o.stderr)
		}
	})
}
