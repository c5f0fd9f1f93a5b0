package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"time"
)

// The score of a package with good tests and a bad one: survivors are reported, and
// so is a wrong excuse.
func TestScore(t *testing.T) {
	score := get(measure([]string{"testdata/number/number.go"}, []string{"./testdata/number"}, "", share{1, 1}))(t)
	var got bytes.Buffer
	score.print(&got, "number")
	want := strings.Join([]string{
		"testdata/number/number.go:16:7: survived as not: a > b",
		"testdata/number/number.go:16:7: survived as true: a > b",
		"testdata/number/number.go:16:7: survived as false: a > b",
		"testdata/number/number.go:36:5: killed as false, so not equivalent: n < 0",
		"testdata/number/number.go:25:5: equivalent as false: only saves time",
		"number: 5 conditions, 11 mutants killed, 0 of them by the time limit, 1 equivalent, 3 survived, 0 of them unreached: score 78.6%",
		"",
	}, "\n")
	if got.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", &got, want)
	}
	if !score.lacks() {
		t.Error("there are survivors, and the score is perfect")
	}
}

// The parts of a run break each condition once.
func TestShare(t *testing.T) {
	conditions := make([]condition, 7)
	for i := range conditions {
		conditions[i].text = fmt.Sprint("x == ", i)
	}
	var broken []int
	for _, text := range []string{"1/3", "2/3", "3/3"} {
		var part share
		if err := part.Set(text); err != nil || part.String() != text {
			t.Errorf("%s is read as %s, error %v", text, &part, err)
		}
		for _, m := range mutantsOf(conditions, part) {
			if m.way == "not" {
				broken = append(broken, m.id)
			}
		}
	}
	if slices.Sort(broken); !slices.Equal(broken, []int{0, 1, 2, 3, 4, 5, 6}) {
		t.Errorf("broken are %v", broken)
	}
	here, there := condition{file: "/one/a.go", text: "x"}, condition{file: "/b/a.go", text: "x"}
	if part := (share{2, 3}); part.holds(here) != part.holds(there) {
		t.Error("the folder decides the part")
	}
	for _, text := range []string{"", "1", "0/3", "4/3", "-1/3", "1/0", "1/2/3", "1/2x", "a/b"} {
		if part := (share{1, 1}); part.Set(text) == nil || part != (share{1, 1}) {
			t.Errorf("%q is read as %s", text, &part)
		}
	}
}

// Tests that fail without a mutant are an error.
func TestFailingTests(t *testing.T) {
	measureFailing := func(skip string) error {
		_, err := measure([]string{"testdata/failing/failing.go"}, []string{"./testdata/failing"}, skip, share{1, 1})
		return err
	}
	if err := measureFailing(""); err == nil || !strings.HasPrefix(err.Error(), "the tests of ./testdata/failing fail without a mutant:\n") || !strings.Contains(err.Error(), "fails as it is\n") {
		t.Errorf("error %v", err)
	}
	if err := measureFailing("."); err != nil {
		t.Errorf("with the failing tests left out: error %v", err)
	}
}

// A slow test and a slow subtest are separate parts, and every test is in one part.
func TestSplit(t *testing.T) {
	output := "=== PAUSE TestParent/a.b\n=== PAUSE TestParent/c\n--- PASS: TestFast (0.01s)\n--- PASS: TestSlow (0.30s)\n--- PASS: TestParent (0.02s)\n" +
		"    --- PASS: TestParent/a.b (0.20s)\n    --- PASS: TestParent/c (0.03s)\n" +
		"--- PASS: TestSteps (0.04s)\n    --- PASS: TestSteps/one (0.20s)\n"
	var got []string
	for _, p := range (testPart{skip: "Alloc"}).split(output) {
		got = append(got, p.run+" without "+p.skip)
	}
	want := []string{
		" without Alloc|^TestParent$|^TestSlow$|^TestSteps$",
		`^TestParent$ without Alloc|^TestParent$/^a\.b$`,
		`^TestParent$/^a\.b$ without Alloc`,
		"^TestSlow$ without Alloc",
		"^TestSteps$ without Alloc",
	}
	if !slices.Equal(got, want) {
		t.Errorf("parts %q, want %q", got, want)
	}
}

// Tests that time out count as failed, and are counted separately.
func TestLate(t *testing.T) {
	suite := get(build([]string{"./testdata/number"}, "", "", t.TempDir()))(t)
	part := suite.parts[0]
	part.limit = time.Nanosecond
	if failed, late := suite.runOne(part, &mutant{}); !failed || !late {
		t.Errorf("failed %v, late %v, want both", failed, late)
	}
}

func TestFind(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"if", "if ok { }", "if mutant(0, ok) { }"},
		{"for", "for ok { }; for { }", "for mutant(0, ok) { }; for { }"},
		{"comparison", "_ = a == b", "_ = mutant(0, a == b)"},
		{"and, or, not", "_ = a < b && (!ok || f(a))", "_ = mutant(0, a < b) && (!mutant(1, ok) || mutant(2, f(a)))"},
		{"in another", "_ = f(a != b) && ok", "_ = mutant(0, f(mutant(1, a != b))) && mutant(2, ok)"},
		{"case", "switch { case ok, a > b: }; switch a { case b: }", "switch { case mutant(0, ok), mutant(1, a > b): }; switch a { case b: }"},
		{"parentheses", "if (ok) { }", "if (mutant(0, ok)) { }"},
		{"constant", "const c = 1 < 2", "const c = 1 < 2"},
		{"none", "a, b = b, a+1", "a, b = b, a+1"},
		{"excused", "if ok { //mutate:equivalent true: why\n}", "if mutant(0, ok) { //mutate:equivalent true: why\n}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := "package p\nfunc _(a, b int, ok bool) {\n" + tt.body + "\n}\n"
			fset := token.NewFileSet()
			tree := get(parser.ParseFile(fset, "a.go", src, parser.ParseComments))(t)
			found := get(find(fset, tree, []byte(src), "a.go"))(t)
			want := strings.Replace(src, tt.body, tt.want, 1)
			if got := string(switched([]byte(src), found, 0)); got != want {
				t.Errorf("switched to\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestBadExcuses(t *testing.T) {
	tests := []struct{ line, want string }{
		{"_ = a == b //mutate:equivalent maybe: why", "a.go:3:12: want //mutate:equivalent WAY: REASON, where WAY is one of not, true, false"},
		{"_ = a == b //mutate:equivalent true", "a.go:3:12: want //mutate:equivalent WAY: REASON, where WAY is one of not, true, false"},
		{"_ = a + b //mutate:equivalent true: why", "a.go:3: no condition begins on the line that is excused"},
	}
	for _, tt := range tests {
		src := "package p\nfunc _(a, b int) {\n" + tt.line + "\n}\n"
		fset := token.NewFileSet()
		tree := get(parser.ParseFile(fset, "a.go", src, parser.ParseComments))(t)
		if _, err := find(fset, tree, []byte(src), "a.go"); err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %s", tt.line, err, tt.want)
		}
	}
}

// get returns a function that returns v, or ends the test if err is not nil.
func get[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
