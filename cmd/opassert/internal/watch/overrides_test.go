package watch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A kernel that is not PyTorch's is judged like one of an op that is not, as long as it overrides PyTorch's,
// also where a kernel of PyTorch's calls it.
func TestOverrides(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		program := []string{p.path, "testdata/overrides.py"}
		o := run(t, nil, program...)
		if diff := cmp.Diff(expected(t, "testdata/overrides.py"), lines(o.found, false)); diff != "" || o.status != 1 {
			t.Errorf("exit status %d\n%s\n%s", o.status, diff, o.stderr)
		}
		if want := ", 8 of them at the level content\n"; !strings.Contains(o.stderr, want) {
			t.Errorf("not%s%s", want, o.stderr)
		}
		for _, flags := range [][]string{{"-sample", "1000"}, {"-max-bytes", "8"}} {
			if o := run(t, flags, program...); slices.ContainsFunc(o.found, func(f found) bool { return f.Code != "OA006" }) {
				t.Errorf("%v: contents are read\n%s", flags, o.stderr)
			}
		}
	})
}

// So is that of a device, which is held against PyTorch's for the CPU.
func TestOverridesOnDevice(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		p.openreg(t)
		o := run(t, nil, p.path, "testdata/overrides.py", "openreg")
		saw := make(map[string]string)
		o.found = slices.DeleteFunc(o.found, func(f found) bool {
			if f.Code == "OA011" {
				saw[f.Op] = f.Saw
			}
			return f.Code == "OA011"
		})
		want := map[string]string{
			"aten::ceil":         "11 elements differ by more than 0.01 of 1 + their size: number 0 is 1, on cpu 0",
			"aten::fmod_.Scalar": "the call does not change its bytes, on cpu it changes them",
			"aten::mm":           "the kernel returned strides [1 3] of sizes [3 3], its fake [3 1]",
		}
		if diff := cmp.Diff(want, saw) + cmp.Diff(expected(t, "testdata/overrides.py"), lines(o.found, false)); diff != "" || o.status != 1 {
			t.Errorf("exit status %d\n%s\n%s", o.status, diff, o.stderr)
		}
	})
}
