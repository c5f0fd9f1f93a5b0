package suite

import (
	"errors"
	"go/scanner"
	"strings"
	"testing"
)

func TestParseRecipesRefuses(t *testing.T) {
	const good = "- ops: [add]\n  cases:\n    - {self: \"t[2]\"}\n"
	for _, tt := range []struct{ name, src, want string }{
		{"empty", "# nothing\n", `recipes.yaml:1:1: the file is empty: expected a list of recipes, - ops: ...`},
		{"mapping", "ops: [add]\n", `recipes.yaml:1:1: expected a list of recipes, - ops: ..., found a mapping`},
		{"mistyped key", good + "- ops: [add]\n  case: []\n", "recipes.yaml:4:3: cases is missing: a recipe says ops and cases\n" +
			"recipes.yaml:5:3: unknown key \"case\"; did you mean cases?"},
		{"no list", "- ops: add\n  cases: []\n", `recipes.yaml:1:8: expected ops: a list of names of ops, found "add"`},
		{"bad pattern", "- ops: ['[']\n  cases: []\n", `recipes.yaml:1:9: expected the name of an op, or a pattern, found "["`},
		{"bad value", "- ops: [é, add]\n  cases: [{é: none, self: 't[2'}]\n", `recipes.yaml:2:28: self: `},
		{"twice", "- ops: [add]\n  cases: [{self: none, self: none}]\n", `recipes.yaml:2:24: the argument self is given twice`},
		{"no case", "- ops: [add]\n  cases: [none]\n", `recipes.yaml:2:11: expected arguments with their values, found "none"`},
		{"no value", "- ops: [add]\n  cases: [{self: [1]}]\n", `recipes.yaml:2:18: expected a value, found a list`},
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
			if got := strings.Join(lines, "\n"); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
