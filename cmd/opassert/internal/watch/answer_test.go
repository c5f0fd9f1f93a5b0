package watch_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

// A Python class that answers a call wrongly is reported with its method and a fix;
// one that answers as the schema declares, or passes on another's answer, is not. A class of which one view shares
// storage is taken to report views; detach() in memory of its own is a note, and so is a view of another class.
func TestAnswersOfPythonAreNamed(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		if strings.HasPrefix(p.torch.Number(), "1.") {
			t.Skip("1.13 has no return_and_correct_aliasing")
		}
		if o := run(t, nil, p.path, "testdata/answered.py", "healthy"); len(o.found) > 0 || o.status != 0 || !strings.Contains(o.stderr, "does not report views") {
			t.Errorf("exit status %d, %v\n%s", o.status, o.found, o.stderr)
		}
		noted := run(t, nil, p.path, "testdata/answered.py", "noted")
		if noted.status != 0 {
			t.Errorf("exit status %d of notes\n%s", noted.status, noted.stderr)
		}
		o := run(t, nil, p.path, "testdata/answered.py", "broken")
		text := must.Get(os.ReadFile("testdata/answered.py"))(t)
		source := strings.Split(string(text), "\n")
		var want, got []string
		for i, line := range source {
			for _, m := range regexp.MustCompile(`OA\d+ \w+::\w+( [A-Z]\w+)+`).FindAllString(line, -1) {
				want = append(want, fmt.Sprintf("%d %s", i+1, m))
			}
		}
		for i, f := range slices.Concat(noted.found, o.found) {
			got = append(got, answered(f, source))
			if (f.Note != "") != (i < len(noted.found)) {
				t.Errorf("%s %s: note %q", f.Code, f.Op, f.Note)
			}
			if !strings.Contains(f.Fix, "return return_and_correct_aliasing(func, args, kwargs, out)") {
				t.Errorf("%s %s: fix %q", f.Code, f.Op, f.Fix)
			}
			if f.Count != 1 {
				t.Errorf("%s %s: %d times, want once", f.Code, f.Op, f.Count)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s\n%s", diff, o.stderr)
		}
		for _, line := range []string{
			"  answer  by __main__.Wrapper.__torch_dispatch__ (testdata/answered.py:",
			"  answer  by __main__.Heir, with __main__.Wrapper.__torch_dispatch__ (testdata/answered.py:",
		} {
			if !strings.Contains(o.stderr, line) {
				t.Errorf("no %q in\n%s", line, o.stderr)
			}
		}
	})
}

// answered returns a finding in the form of the comments of answered.py: the class
// that answered, and the class of its method, by the source at the reported line.
func answered(f found, source []string) string {
	op, _, _ := strings.Cut(f.Op, ".")
	line := 0
	for _, frame := range f.Site {
		if frame.Func == "broken" || frame.Func == "noted" {
			line = frame.Line
		}
	}
	text := fmt.Sprintf("%d %s %s ", line, f.Code, op)
	if f.AnsweredBy == nil || f.AnsweredBy.File != "testdata/answered.py" || !strings.Contains(source[f.AnsweredBy.Line-1], "def __torch_dispatch__") {
		return text + fmt.Sprint(f.AnsweredBy)
	}
	classes := regexp.MustCompile(`(?m)^class (\w+)`).FindAllStringSubmatch(strings.Join(source[:f.AnsweredBy.Line], "\n"), -1)
	class, method := strings.TrimPrefix(f.Class, "__main__."), classes[len(classes)-1][1]
	if f.AnsweredBy.Func != "__main__."+method+".__torch_dispatch__" {
		return text + f.AnsweredBy.Func
	}
	if class == method {
		return text + class
	}
	return text + class + " " + method
}
