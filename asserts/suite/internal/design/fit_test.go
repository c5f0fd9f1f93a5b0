package design

import (
	"errors"
	"go/scanner"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// ops are parsed schemas.
func ops(t *testing.T, texts ...string) []*schema.Op {
	t.Helper()
	var all []*schema.Op
	for _, text := range texts {
		op := must.Get(schema.ParseDispatcher(text))(t)
		all = append(all, op)
	}
	return all
}

// faults returns the errors of Check for a file of cases, one a line.
func faults(t *testing.T, all []*schema.Op, text string) []string {
	t.Helper()
	book, err := ParseRecipes("c", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	err = book.Check(all)
	if err == nil {
		return nil
	}
	var list scanner.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		t.Fatalf("%v, want a scanner.ErrorList", err)
	}
	var lines []string
	for _, e := range list {
		lines = append(lines, e.Error())
	}
	return lines
}

// Names of ops and of arguments in a file of cases must be those of the library: each other one is
// reported once, at its position, with a suggestion.
func TestCheckNames(t *testing.T) {
	all := ops(t, "ns::add(Tensor self, Tensor other, int n=1) -> Tensor", "ns::mul.one(Tensor self) -> Tensor", "ns::mul.two(Tensor self, bool flag) -> Tensor", "my::zap(Tensor self) -> Tensor")
	for _, tt := range []struct {
		name, text string
		want       []string // the beginning of each line
		says       string   // in the last line
	}{
		{"op", "- ops: [add]\n  cases: [{self: 't[2]', other: 't[2]'}]\n", nil, ""},
		{"op with its namespace", "- ops: ['ns::mul.two']\n  cases: [{flag: true}]\n", nil, ""},
		{"position", "- ops: [add]\n  cases: [{_0: 't[2]', _2: '3'}]\n", nil, ""},
		{"an argument of some of the ops", "- ops: [add, 'mul.two']\n  cases: [{flag: true, n: '1'}]\n", nil, ""},
		{"no file", "[]\n", nil, ""},
		{"a value at a position", "- ops: [add]\n  cases: [{_2: \"'a'\"}]\n", []string{"c:2:16: "}, "int"},
		{"no such op", "- ops: [ads]\n  cases: [{self: 't[2]'}, {other: 't[2]'}]\n", []string{"c:1:9: "}, "mean add?"},
		{"no such overload", "- ops: ['ns::mul.three']\n  cases: [{self: 't[2]'}]\n", []string{"c:1:9: "}, "ns::mul.one"},
		{"no such op of a namespace", "- ops: ['ns::ads']\n  cases: [{self: 't[2]'}]\n", []string{"c:1:9: "}, "mean ns::add?"},
		{"a pattern of none", "- ops: ['ad?d']\n  cases: [{self: 't[2]'}]\n", []string{"c:1:9: "}, "no op ad?d"},
		{"a pattern of none among others", "- ops: [add, 'ad?d']\n  cases: [{self: 't[2]'}]\n", nil, ""},
		{"no such op among others", "- ops: [add, ads, adz]\n  cases: [{self: 't[2]'}]\n", []string{"c:1:14: ", "c:1:19: "}, "mean add?"},
		{"no such argument", "- ops: [add]\n  cases: [{selv: 't[2]'}]\n", []string{"c:2:12: "}, "self"},
		{"no such argument of an op that is not there", "- ops: [adz]\n  cases: [{selv: 't[2]'}]\n", []string{"c:1:9: "}, "mean add?"},
		{"an argument of other ops", "- ops: [zap]\n  cases: [{flag: true}]\n", []string{"c:2:12: "}, "flag"},
		{"an optional op", "- ops: [ads]\n  optional: true\n  cases: [{self: 't[2]'}]\n", nil, ""},
		{"an op that is not optional", "- ops: [ads]\n  optional: false\n  cases: [{self: 't[2]'}]\n", []string{"c:1:9: "}, "mean add?"},
		{"an argument that an optional op lacks", "- ops: [add]\n  optional: true\n  cases: [{selv: 't[2]', n: 'true'}]\n", []string{"c:3:29: "}, "want int"},
		{"a position too far", "- ops: [zap]\n  cases: [{_1: 't[2]'}]\n", []string{"c:2:12: "}, "_0"},
	} {
		got := faults(t, all, tt.text)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q", tt.name, got)
			continue
		}
		for i, line := range got {
			if !strings.HasPrefix(line, tt.want[i]) || i == len(got)-1 && !strings.Contains(line, tt.says) {
				t.Errorf("%s: %q, want %q and %s", tt.name, line, tt.want[i], tt.says)
			}
		}
	}
	got := strings.Join(faults(t, all, "- ops: ['ad?']\n  cases: [{self: 'ns::ad*()'}]\n"), "")
	if strings.Contains(got, "mean") {
		t.Errorf("of a pattern another name is meant: %s", got)
	}
}

// A value fits if one of the ops with the argument accepts it.
func TestCheckValues(t *testing.T) {
	all := ops(t,
		"ns::one(Tensor tensor) -> Tensor", "ns::none() -> ()", "ns::number(int n) -> int", "ns::pair(Tensor a, int b=1) -> Tensor", "ns::any(int n) -> Any", "ns::push(__torch__.torch.classes.ns.Q q, Tensor t) -> ()", "ns::over.loaded(int n) -> int", "ns::over.two(int n) -> int", "ns::zz.a() -> int", "ns::many() -> Tensor[]", "ns::perhaps() -> Tensor?",
		"ns::f(Tensor tensor, Tensor? maybe, Tensor[] list, (Tensor, int) tuple, Dict(str, int) dict, __torch__.torch.classes.ns.Q object, int n, float x, Scalar s, bool b, str text, Any any, Future(int) later, int[] ns, int d=2, int? opt=None, __torch__.torch.classes.ns.Q? object2=None, Other? odd=None, Dimname? name=None, ScalarType? dtype=None) -> Tensor",
		"ns::g(int n, Tensor b) -> Tensor", "ns::h(Tensor n, int b) -> Tensor")
	for _, tt := range []struct {
		arg, value string
		want       string // in the error, "" if it fits
	}{
		{"tensor", "t[2]", ""}, {"tensor", "none", ""}, {"tensor", "3", "Tensor"}, {"tensor", "default", "default"}, {"tensor", "[t[2]]", "Tensor"},
		{"maybe", "none", ""}, {"maybe", "t[2]", ""}, {"maybe", "same:tensor", ""}, {"maybe", "'a'", "Tensor"},
		{"list", "[t[2], t[3]]", ""}, {"list", "[]", ""}, {"list", "[t[2], 3]", "Tensor"}, {"list", "t[2]", "Tensor[]"}, {"list", "(t[2], t[2])", "Tensor[]"}, {"list", "none", "Tensor[]"}, {"list", "(t[2])", "Tensor[]"}, {"list", "{'a': t[2]}", "Tensor[]"},
		{"tuple", "(t[2], 3)", ""}, {"tuple", "(3, t[2])", "Tensor"}, {"tuple", "(t[2], t[2])", "int"}, {"tuple", "(t[2], 3, 4)", "(Tensor, int)"}, {"tuple", "[t[2], 3]", "(t[2, 3], 3)"},
		{"dict", "{'a': 1, 'b': 2}", ""}, {"dict", "{'a': 'b'}", "int"}, {"dict", "{1: 2}", "str"}, {"dict", "['a', 1]", "{'text': 3}"},
		{"object", "ns.Q(t[2])", ""}, {"object", "ns.R()", "ns.Q("}, {"object", "3", "ns.Q("}, {"object", "'__torch__.torch.classes.ns.Q'", "ns.Q("}, {"object2", "none", ""}, {"object2", "ns.R()", "ns.Q("}, {"object", "after ns::push(ns.Q(), t[2])", ""}, {"object", "after ns::push(ns.R(), t[2])", "ns.Q("},
		{"n", "3", ""}, {"n", "0.5", "int"}, {"n", "default", "default"}, {"n", "dtype:int8", ""}, {"x", "0.5", ""}, {"x", "1", ""}, {"x", "true", "float"},
		{"s", "1+2i", ""}, {"s", "true", ""}, {"s", "'a'", "Scalar"}, {"b", "true", ""}, {"b", "1", "bool"}, {"text", "'a'", ""}, {"text", "1", "str"},
		{"any", "1", ""}, {"any", "'a'", ""}, {"any", "[1]", ""}, {"later", "1", ""}, {"later", "t[2]", ""}, {"d", "default", ""}, {"opt", "none", ""}, {"opt", "'a'", "int"}, {"odd", "3", ""}, {"dtype", "layout:strided", "dtype:"}, {"name", "3", "want Dimname, found 3"},
		{"ns", "[1, 2]", ""}, {"ns", "3", "[3]"}, {"ns", "[1, 'a']", "int"},
		{"maybe", "view:tensor", ""}, {"maybe", "same:list", "list"}, {"list", "[same:list]", "list"}, {"tensor", "same:nothing", "nothing"}, {"list", "[same:tensor, view:maybe]", ""}, {"list", "[same:dict]", "dict"},
		{"tensor", "ns::one(t[2])", ""}, {"tensor", "ns::pair(t[2])", ""}, {"tensor", "ns::pair(t[2], 3)", ""}, {"tensor", "ns::pair(t[2], 3, 4)", "2 arguments"}, {"tensor", "ns::pair()", "a"}, {"tensor", "ns::one(3)", "tensor"},
		{"tensor", "ns::none()", "Tensor"}, {"tensor", "ns::number(3)", "Tensor"}, {"n", "ns::number(3)", ""}, {"tensor", "ns::any(1)", "Tensor"}, {"any", "ns::number(3)", ""}, {"any", "ns::none()", "Any"}, {"list", "ns::one(t[2])", "Tensor[]"}, {"tensor", "ns::many()", "Tensor"}, {"list", "ns::many()", ""}, {"tensor", "ns::perhaps()", ""}, {"list", "ns::none()", "Tensor[]"},
		{"tensor", "ns::onn(t[2])", "ns::one"}, {"n", "ns::over(3)", "ns::over.loaded, ns::over.two"}, {"n", "ns::zz()", "ns::zz.a"}, {"n", "ns::number('a')", "int"}, {"tensor", "after ns::pair(t[2])", ""}, {"tensor", "after ns::pair(t[2], 'a')", "b"}, {"n", "after ns::pair(t[2])", "int"}, {"n", "after ns::number(3)", ""},
	} {
		got := faults(t, all, "- ops: [f]\n  cases: [{"+tt.arg+": \""+tt.value+"\"}]\n")
		switch {
		case tt.want == "" && len(got) > 0:
			t.Errorf("%s: %s does not fit: %q", tt.arg, tt.value, got)
		case tt.want == "":
		case len(got) != 1 || !strings.HasPrefix(got[0], "c:2:") || !strings.Contains(strings.SplitN(got[0], tt.arg+": ", 2)[1], tt.want):
			t.Errorf("%s: %s is reported as %q, want a word of %s", tt.arg, tt.value, got, tt.want)
		}
	}
	for value, fits := range map[string]bool{"3": true, "t[2]": true, "'a'": false} {
		if got := faults(t, all, "- ops: [g, h]\n  cases: [{n: \""+value+"\"}]\n"); (len(got) == 0) != fits {
			t.Errorf("of two ops, %s is reported as %q", value, got)
		}
	}
	if got := faults(t, all, "- ops: [f]\n  cases: [{tensor: 't[n]', d: 'n-1', list: '[t[n]]'}]\n"); len(got) > 0 {
		t.Errorf("sizes: %q", got)
	}
}
