package asserts_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/golden"
)

// faults violates each rule once, for the tests of reports.
var faults = []judgement{
	{
		schema: "index_put(Tensor self, Tensor?[] indices) -> Tensor", args: []int{1, 2},
		before: list{see(1, 2), see(3, 4), see(5, 6)}, after: list{see(1, 2), see(3, 4), see(7, 8)}, results: list{see(9, 10)},
	},
	{
		schema: "add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
		before: list{see(1, 2), see(3, 4)}, after: list{see(1, 9), see(3, 4)}, results: list{see(1, 9)},
	},
	{schema: "set_data(Tensor self) -> ()", before: list{see(1, 2)}, after: list{see(3, 4)}},
	{schema: "mul(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 9)}, results: list{see(5, 6)}},
	{schema: "embedding(Tensor weight) -> Tensor", before: list{see(1, 2)}, results: list{see(3, 4, uses(2, 1))}},
	{schema: "detach(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2)}, results: list{see(1, 2, uses(2, 1))}},
	{
		schema: "split(Tensor(a) self) -> Tensor(a)[]", returns: []int{3},
		before: list{see(1, 2)}, results: list{see(3, 2), see(4, 2), see(5, 6)},
	},
	{schema: "cumsum(Tensor self) -> Tensor", before: list{see(1, 2)}, results: list{see(3, 4, uses(1, 3))}},
	{schema: "cumsum.waived(Tensor self) -> Tensor", drop: "OA007", before: list{see(1, 2)}, results: list{see(3, 2, uses(1, 2))}},
	{
		schema: "relu_(Tensor(a!) self) -> Tensor(a!)",
		before: list{see(1, 0x7f0011223344)}, results: list{see(5, 6)},
	},
	{schema: "contiguous(Tensor self) -> Tensor", before: list{see(1, 2)}, results: list{see(1, 2, uses(2, 1))}},
	{schema: "expand_as(Tensor(a) self, Tensor other) -> Tensor", before: list{see(1, 2), see(3, 4)}, results: list{see(5, 2, uses(1, 2))}},
	{schema: "cat(Tensor[] tensors) -> Tensor", args: []int{2}, before: list{see(1, 2), see(3, 4)}, results: list{see(5, 4, uses(1, 2))}},
	{schema: "unbind(Tensor(a -> *) self) -> Tensor", before: list{see(1, 2)}, results: list{see(3, 2, uses(1, 2))}},
	{schema: "aminmax(Tensor(a) self, Tensor other) -> (Tensor(a), Tensor)", before: list{see(1, 2), see(3, 4)}, results: list{see(5, 2), see(6, 4)}},
	{schema: "native_norm(Tensor(a!) mean) -> Tensor", before: list{see(1, 2)}, results: list{see(1, 2, uses(2, 1))}},
	{schema: "meshgrid(Tensor self) -> (Tensor, Tensor)", before: list{see(1, 2)}, results: list{see(3, 4, uses(1, 2)), see(5, 4, uses(1, 2))}},
	{
		schema: "rrelu_with_noise(Tensor self, Tensor noise) -> Tensor",
		before: list{see(1, 2, holding("aaaa")), see(3, 4, holding("bbbbbbbb"))},
		after:  list{see(1, 2, holding("aaaa")), see(3, 4, holding("cccccccc"))}, results: list{see(5, 6)},
	},
	{
		schema: "t(Tensor(a) self) -> Tensor(a)",
		before: list{see(1, 2, holding("aaaa"))},
		after: list{see(1, 2, holding("aaaa"), shaped(func(c *asserts.Snapshot) {
			c.Sizes, c.Strides = []int64{2, 2}, []int64{2, 1}
		}))}, results: list{see(5, 2)},
	},
	{
		schema: "sin(Tensor self, Tensor(a!) out) -> Tensor(a!)", modes: []asserts.Mode{{Name: "logging", Invalidates: asserts.CodesOf(asserts.UndeclaredWrite)}},
		before: list{see(1, 2, holding("aaaa")), see(3, 4, holding("bbbb"), version(3))},
		after:  list{see(1, 2, holding("aaaa")), see(3, 4, holding("bbbX"), version(3))}, results: list{see(3, 4)},
	},
}

// violations judges the faults.
func violations(t *testing.T) asserts.Violations {
	t.Helper()
	var all asserts.Violations
	for _, f := range faults {
		op, seen := f.call()
		found := asserts.Judge(op, seen, asserts.Aware()).Violations
		if len(found) != 1 {
			t.Fatalf("%s: %d violations, want 1", f.schema, len(found))
		}
		found[0].Site = asserts.Site{File: "/src/model/block.go", Line: 42, Func: "model.Forward"}
		all = append(all, found...)
	}
	all[len(all)-1].Repro = "opassert check -engine libtorch -op aten::sin -case 7"
	return all
}

func TestReport(t *testing.T) {
	all := violations(t)
	golden.Compare(t, "report.txt", all.Error()+"\n")
	codes := make(map[asserts.Code]bool)
	for _, v := range all {
		codes[v.Code] = true
		if first, _, _ := strings.Cut(v.Error(), "\n"); first != v.Title() {
			t.Errorf("the report begins %q, the title is %q", first, v.Title())
		}
	}
	for c := asserts.InputImpl; c <= asserts.VersionBump; c++ {
		if !codes[c] {
			t.Errorf("no report of %v", c)
		}
	}
}

func TestViolationsAreErrors(t *testing.T) {
	all := violations(t)
	var err error = all
	var v *asserts.Violation
	if !errors.As(err, &v) || v != all[0] {
		t.Errorf("errors.As found %v, want the first", v)
	}
	if !errors.Is(err, all[1]) {
		t.Error("errors.Is does not find the second")
	}
}

func TestPlace(t *testing.T) {
	for want, p := range map[string]asserts.Place{
		"argument self":       {Name: "self", Element: -1},
		"argument tensors[1]": {Name: "tensors", Element: 1},
		"result":              {Return: true, Name: "result", Element: -1},
		"result0[0]":          {Return: true, Name: "result0", Element: 0},
		"result values":       {Return: true, Name: "values", Element: -1},
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v is %q, want %q", p, got, want)
		}
	}
}

func TestStrings(t *testing.T) {
	for want, got := range map[string]any{
		"none":           asserts.ID(0),
		"#7":             asserts.ID(7),
		"0x7f0011223344": asserts.ID(0x7f0011223344),
		"content":        asserts.Content,
		"level 9":        asserts.Level(9),
		"a.go:7":         asserts.Site{File: "a.go", Line: 7},
		"":               asserts.Site{Line: 7},
	} {
		if text := fmt.Sprint(got); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

func TestWaive(t *testing.T) {
	for op, want := range map[string]string{
		"aten::add.Tensor":  "{op: add.Tensor, checks: [OA007], reason: ...}",
		"torchvision::nms":  "{op: torchvision::nms, checks: [OA007], reason: ...}",
		"aten::rrelu_noise": "{op: rrelu_noise, checks: [OA007], reason: ...}",
	} {
		v := asserts.Violation{Code: asserts.UndeclaredAlias, Op: op}
		if got := v.Waive(); got != want {
			t.Errorf("%s: %s, want %s", op, got, want)
		}
	}
}

// A report names the method that answered instead of a kernel, which may be of another class or
// without a line.
func TestAnswer(t *testing.T) {
	site := asserts.Site{File: "model.py", Line: 12, Func: "model.Wrapper.__torch_dispatch__"}
	for _, tt := range []struct {
		answer *asserts.Answer
		want   string
	}{
		{nil, ""},
		{&asserts.Answer{Class: "model.Wrapper", Site: site}, "model.Wrapper.__torch_dispatch__ (model.py:12)"},
		{&asserts.Answer{Class: "model.Heir", Site: site}, "model.Heir, with model.Wrapper.__torch_dispatch__ (model.py:12)"},
		{&asserts.Answer{Class: "model.Wrapper", Site: asserts.Site{Func: site.Func}}, "model.Wrapper.__torch_dispatch__"},
		{&asserts.Answer{Class: "model.Wrapper"}, "model.Wrapper, with "},
	} {
		if got := tt.answer.String(); got != tt.want {
			t.Errorf("%+v is %q, want %q", tt.answer, got, tt.want)
		}
		v := asserts.Violation{Code: asserts.ReturnedSelf, Answer: tt.answer}
		if got := strings.Contains(v.Error(), "\n  answer  by "+tt.want+", not by a kernel\n"); got != (tt.answer != nil) {
			t.Errorf("%+v is in the report: %v\n%s", tt.answer, got, v.Error())
		}
	}
}
