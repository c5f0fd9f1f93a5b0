package design

import (
	"errors"
	"go/scanner"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

func TestParseRecipesRefuses(t *testing.T) {
	const good = "- ops: [add]\n  cases:\n    - {self: \"t[2]\"}\n"
	for _, tt := range []struct{ name, src, want string }{
		{"empty", "# nothing\n", `recipes.yaml:1:1: the file is empty: expected a list of recipes, - ops: ...`},
		{"mapping", "ops: [add]\n", `recipes.yaml:1:1: expected a list of recipes, - ops: ..., found a mapping`},
		{"no flag", "- ops: [add]\n  optional: perhaps\n  cases: [{self: none}]\n", "recipes.yaml:2:13: expected true or false, found \"perhaps\""},
		{"mistyped key", good + "- ops: [add]\n  case: []\n", "recipes.yaml:4:3: cases is missing: a recipe has ops and cases\n" +
			"recipes.yaml:5:3: unknown key \"case\"; did you mean cases?"},
		{"no list", "- ops: add\n  cases: []\n", `recipes.yaml:1:8: expected ops: a list of names of ops, found "add"`},
		{"bad pattern", "- ops: ['[']\n  cases: []\n", `recipes.yaml:1:9: expected the name of an op, or a pattern, found "["`},
		{"list for a pattern", "- ops: [[add]]\n  cases: []\n", `recipes.yaml:1:9: expected the name of an op, or a pattern, found`},
		{"alias", "- ops: [add]\n  cases: [{self: &none none, other: *none}]\n", `recipes.yaml:2:37: `},
		{"bad value", "- ops: [é, add]\n  cases: [{é: none, self: 't[2'}]\n", `recipes.yaml:2:32: self: the sizes of a tensor are not closed: want ]`},
		{"dtype", "- ops: [add]\n  cases: [{self: 'flat32[2]'}]\n", `recipes.yaml:2:19: self: unknown dtype "flat32"; did you mean float32?`},
		{"option", "- ops: [add]\n  cases: [{self: 't[2] belwo:3'}]\n", `recipes.yaml:2:24: self: "belwo:3" is not an option of a tensor; did you mean below?`},
		{"word", "- ops: [add]\n  cases: [{self: 't[n]', k: n+1, f: flase}]\n", `recipes.yaml:2:37: f: "flase" is not a value; did you mean false?`},
		{"size", "- ops: [add]\n  cases: [{self: 't[2, 1.5]'}]\n", `recipes.yaml:2:24: self: "1.5" is not a size: want a whole number, or one with symbols such as n or 2*n+1`},
		{"bound", "- ops: [add]\n  cases: [{self: 'int64[2] below:mx'}]\n", `recipes.yaml:2:28: self: "mx" is not a number: want one, or the name of a size in this case`},
		{"no bound", "- ops: [add]\n  cases: [{self: 'int64[2] below'}]\n", `recipes.yaml:2:28: self: want below:5`},
		{"empty bound", "- ops: [add]\n  cases: [{self: 'int64[n] below:n-1'}]\n", `recipes.yaml:2:28: self: below:n-1 has no such numbers where n is 1: they begin with 0`},
		{"one end", "- ops: [add]\n  cases: [{self: 't[2] in:1'}]\n", `recipes.yaml:2:24: self: want in:0.5..2`},
		{"fills", "- ops: [add]\n  cases: [{self: 't[2] range below:2'}]\n", `recipes.yaml:2:30: self: range and below:2 can't be combined: both are a way to fill it`},
		{"form", "- ops: [add]\n  cases: [{self: 'int64[2] mkldnn'}]\n", `recipes.yaml:2:34: self: int64[2] can't be mkldnn`},
		{"negative", "- ops: [add]\n  cases: [{self: 't[2, -3]'}]\n", `recipes.yaml:2:24: self: the size -3 is below 0`},
		{"negative now and then", "- ops: [add]\n  cases: [{self: 't[n-1, n-2]'}]\n", `recipes.yaml:2:26: self: the size n-2 is below 0 where n is 1`},
		{"huge", "- ops: [add]\n  cases: [{self: 't[99999999, 99999999]'}]\n", `recipes.yaml:2:40: self: a tensor of 9.9999998e+15 elements: want at most 16777216`},
		{"overflow", "- ops: [add]\n  cases: [{self: 't[n*9000000000*9000000000]'}]\n", `recipes.yaml:2:21: self: "n*9000000000*9000000000" is not a size`},
		{"NaN", "- ops: [add]\n  cases: [{self: 't[NaN]'}]\n", `recipes.yaml:2:21: self: "NaN" is not a size`},
		{"element", "- ops: [add]\n  cases: [{self: 'int32[2] = [1.5]'}]\n", `recipes.yaml:2:31: self: 1.5 is not of dtype int32`},
		{"C++ dtype", "- ops: [add]\n  cases: [{self: 'torch.half[2]'}]\n", `recipes.yaml:2:19: self: unknown dtype "torch.half"; did you mean float16?`},
		{"key twice", "- ops: [add]\n  cases: [{self: \"{'a': 1, 'a': 2}\"}]\n", `recipes.yaml:2:31: self: the dict has the key 'a' twice`},
		{"deep", "- ops: [add]\n  cases: [{self: \"" + strings.Repeat("[", 1<<20) + "\"}]\n", `recipes.yaml:2:51: self: more than 32 nested lists`},
		{"nothing", "- ops: [add]\n  cases: [{self: ''}]\n", `recipes.yaml:2:19: self: "" is not a value: want one; write None`},
		{"unquoted text", "- ops: [add]\n  cases: [{mode: nearest}]\n", `recipes.yaml:2:18: mode: "nearest" is not a value: put a text in quotes, 'nearest'`},
		{"YAML list", "- ops: [add]\n  cases: [{self: [1, [t, 2]]}]\n", `recipes.yaml:2:18: self: put the value in quotes: self: "[1, [t, 2]]"`},
		{"YAML mapping", "- ops: [add]\n  cases: [{self: {a: 1, b: [2]}}]\n", `recipes.yaml:2:18: self: put the value in quotes: self: "{'a': 1, 'b': [2]}"`},
		{"circle", "- ops: [add]\n  cases: [{self: 'same:other', other: 'same:self'}]\n", `recipes.yaml:2:19: self: same:other, which refers to another argument itself`},
		{"no ops", "- ops: []\n  cases: [{self: none}]\n", `recipes.yaml:1:8: ops is empty: want a list of names of ops`},
		{"no cases", "- ops: [add]\n  cases: []\n", `recipes.yaml:2:10: cases is empty: want a list of mappings of arguments to values`},
		{"range", "- ops: [add]\n  cases: [{self: 't[2] in:3..1'}]\n", `recipes.yaml:2:24: self: in:3..1: want the lower number first`},
		{"layout", "- ops: [add]\n  cases: [{self: 'layout:sparse'}]\n", `recipes.yaml:2:26: self: unknown layout "sparse"`},
		{"class", "- ops: [add]\n  cases: [{self: 'Queue(1)'}]\n", `recipes.yaml:2:19: self: Queue is neither an op, ns::op, nor a class, ns.Class`},
		{"call", "- ops: [add]\n  cases: [{self: 'aten::ones([2]'}]\n", `recipes.yaml:2:33: self: the call is not closed: want )`},
		{"after", "- ops: [add]\n  cases: [{self: 'after ns::push(queue'}]\n", `recipes.yaml:2:34: self: "queue" is not a value`},
		{"after what", "- ops: [add]\n  cases: [{self: 'after push(t[2])'}]\n", `recipes.yaml:2:25: self: after is followed by a call of an op, ns::op(t[2])`},
		{"after nothing", "- ops: [add]\n  cases: [{self: 'after ns::push()'}]\n", `recipes.yaml:2:35: self: ns::push has no argument whose value to use`},
		{"dict", "- ops: [add]\n  cases: [{self: \"{'a' t[2]}\"}]\n", `recipes.yaml:2:24: self: want : between a dict's key and value`},
		{"text", "- ops: [add]\n  cases: [{self: \"'a\"}]\n", "recipes.yaml:2:20: self: the text is not closed: want '"},
		{"twice", "- ops: [add]\n  cases: [{self: none, self: none}]\n", `recipes.yaml:2:24: the argument self is given twice`},
		{"no case", "- ops: [add]\n  cases: [none]\n", `recipes.yaml:2:11: expected arguments with their values, found "none"`},
		{"no value", "- ops: [add]\n  cases: [{self: [1]}]\n", `recipes.yaml:2:18: self: put the value in quotes: self: "[1]"`},
		{"not YAML", good + "- [\n", `recipes.yaml:5:1: not YAML: did not find expected node content`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseRecipes("recipes.yaml", []byte(tt.src))
			var list scanner.ErrorList
			if !errors.As(err, &list) {
				t.Fatalf("%v, want a scanner.ErrorList", err)
			}
			var lines []string
			for _, e := range list {
				lines = append(lines, e.Error())
			}
			if len(slices.Compact(slices.Clone(lines))) < len(lines) {
				t.Errorf("a fault is reported twice: %q", lines)
			}
			if got := strings.Join(lines, "\n"); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// No text of a value makes the parser panic, and a parsed value prints as an equal one.
func FuzzParseValue(f *testing.F) {
	for _, seed := range []string{
		"t[n, 2*m+1] sliced coo below:n = [0, 1.5]", "(t[2], [3, none], {'a': 1, 2: same:x[1]})", "after ns::op(ns.Class('it''s'), 0.5-2i)", "storage:float32[4]", "dtype:int8", "NaN", "-n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for round := range sample.SymbolSizes {
			v, err := sample.ParseValue(text, sample.NewSymbols(round))
			if err != nil {
				continue
			}
			again, err := sample.ParseValue(v.Recipe(), sample.NewSymbols(0))
			if err != nil || again.Recipe() != v.Recipe() {
				t.Fatalf("%q prints as %q, which reads as %q, %v", text, v.Recipe(), again.Recipe(), err)
			}
		}
	})
}

// A file of cases is refused with positions, or its values print as they read.
func FuzzParseRecipes(f *testing.F) {
	for _, seed := range []string{
		"- ops: [a::b, \"c::*\"]\n  cases:\n    - {x: \"t[n, 2]\", _1: \"'s'\"}\n    - {}\n", "[]", "- {ops: a, cases: [{x: 1}]}\n", "- ops: []\n  cases: {}\n", "- &a {ops: [x], cases: [{y: same:y}]}\n- *a\n", string(recipeText),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		book, err := ParseRecipes("cases.yaml", text)
		if err == nil {
			if book == nil {
				t.Fatal("neither a file nor an error")
			}
			return
		}
		var list scanner.ErrorList
		if !errors.As(err, &list) || len(list) == 0 || book != nil {
			t.Fatalf("no list of errors, but %v and %v", err, book)
		}
		for _, e := range list {
			if !e.Pos.IsValid() || e.Pos.Column < 1 || e.Msg == "" {
				t.Fatalf("an error without a place: %v", e)
			}
		}
	})
}
