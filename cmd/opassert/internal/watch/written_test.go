package watch_test

import (
	"fmt"
	"strings"
	"testing"
)

// An argument that a schema lets its op write, and that no call of many changed, is a
// note, of which the exit status says nothing; of few calls it is none.
func TestUnwritten(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		program := func(calls string) outcome {
			return run(t, nil, p.path, "testdata/unwritten.py", fakesOf, calls)
		}
		o := program("24")
		for op, argument := range map[string]string{"nothing": `0 "x"`, "clone": `1 "into"`, "second": `1 "state"`, "many": `0 "xs"`} {
			want := fmt.Sprintf("OA012 schema-lint  unwritten::%s  argument %s", op, argument)
			if !strings.Contains(o.stderr, want) {
				t.Errorf("%q is not said", want)
			}
		}
		if n := strings.Count(o.stderr, "saw     none of 24 calls, on tensors of 4 sizes, changed it"); n != 4 || o.status != 0 {
			t.Errorf("%d notes, want 4; exit status %d, want 0\n%s", n, o.status, o.stderr)
		}
		if o := program("12"); strings.Contains(o.stderr, "changed it") {
			t.Errorf("12 calls are too few\n%s", o.stderr)
		}
	})
}
