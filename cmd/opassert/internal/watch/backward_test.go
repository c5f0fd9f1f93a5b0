package watch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

// inTable matches a line of the table in testdata/backward.py.
var inTable = regexp.MustCompile(`(?m)^ {4}"(formula::\w+)": "(.+)",$`)

// An op without a formula is reported at its call, once, if the program's backward
// reaches its result; ops with a formula, and those that no backward reaches, are
// not. The program's output is unchanged.
func TestBackwardComesToOpsWithoutFormulas(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		if strings.HasPrefix(p.torch.Number(), "1.") {
			t.Skip("1.13 has no torch.library.custom_op")
		}
		program := []string{p.path, "testdata/backward.py"}
		o := run(t, nil, program...)
		if diff := cmp.Diff(alone(t, program...), o.stdout); diff != "" || o.status != 1 {
			t.Errorf("exit status %d\n%s", o.status, diff)
		}
		text := must.Get(os.ReadFile("testdata/backward.py"))(t)
		want := make(map[string]string)
		for _, m := range inTable.FindAllStringSubmatch(string(text), -1) {
			want[m[1]] = m[2]
		}
		if len(want) != 8 {
			t.Fatalf("the table has %d ops, want 8", len(want))
		}
		for _, f := range o.found {
			if f.Code != "OA014" {
				continue
			}
			site := f.Site[len(f.Site)-1]
			if want[f.Op] == "" || !strings.Contains(f.Saw, want[f.Op]) || f.Count != 1 || filepath.Base(site.File) != "backward.py" || site.Line == 0 {
				t.Errorf("%s: found %d times %q at %v, want %q once at its line", f.Op, f.Count, f.Saw, site, want[f.Op])
			}
			delete(want, f.Op)
		}
		for op, says := range want {
			t.Errorf("%s: nothing found, want %q", op, says)
		}
		if reason := ": no argument requires grad where autograd records, or the program's backward does not reach the result"; !strings.Contains(o.stderr, reason) {
			t.Errorf("%q is not counted", reason)
		}
		if t.Failed() {
			t.Log(o.stderr)
		}
	})
}

// With -fail the program's backward raises the finding.
func TestBackwardRaises(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		program := "import torch; l = torch.library.Library('raised', 'DEF'); l.define('op(Tensor x) -> Tensor'); " +
			"l.impl('op', lambda x: x.detach() * 2, 'CPU'); torch.ops.raised.op(torch.ones(3, requires_grad=True)).sum().backward()"
		if strings.HasPrefix(p.torch.Number(), "1.") {
			t.Skip("in 1.13 the result requires no grad")
		}
		if o := run(t, []string{"-fail"}, p.path, "-c", program); o.status == 0 || !strings.Contains(o.stderr, "RuntimeError: OA014 autograd-kernel  raised::op") {
			t.Errorf("exit status %d\n%s", o.status, o.stderr)
		}
	})
}
