package design

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// Only values that an error offers count as choices, at most a dozen.
func TestNamedWordsAlone(t *testing.T) {
	dozen := strings.Fields("a b c d e f g h i j k l")
	for text, want := range map[string][]string{
		"nothing here":                                     nil,
		"got 'opassert', want 'a' or 'b'":                  {"a", "b"},
		"one of 'a', 'b'; one of c, d":                     {"a", "b"},
		"'a' 'b' 'a' 'c'":                                  {"a", "b", "c"},
		"one of a and b":                                   {"a", "b"},
		"must be low, or a number":                         {"low"},
		"must be the first one":                            nil,
		"one of a, 3, b":                                   {"a"},
		"one of {a, b}, c, d":                              {"a", "b"},
		"one of a, b\nor c":                                {"a", "b"},
		"'a' '" + strings.Join(dozen[1:], "' '") + "' 'm'": dozen,
		"available x; modes: foo bar baz":                  {"x", "foo", "bar", "baz"},
		"available x or y; modes: foo bar baz":             {"x", "y"},
	} {
		if diff := cmp.Diff(want, namedWords(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// A probe has the argument's type, if that has invalid values; the choices in its error are values
// of that type, without duplicates.
func TestProbes(t *testing.T) {
	op := ops(t, "ns::f(str text, str? maybe, int n, SymInt s, float x, Scalar a, bool b, Tensor t, str[] texts, int[] ns, float[] xs) -> Tensor")[0]
	for i, want := range []sample.ValueKind{sample.TextValue, sample.TextValue, sample.IntValue, sample.IntValue, sample.FloatValue, sample.FloatValue, 0, 0, 0, 0, 0} {
		arg := op.Func.Args[i]
		v, ok := Probe(arg.Type)
		if v.Kind != want || ok != (want != 0) {
			t.Errorf("%s is probed with %v, %v", arg.Name, v, ok)
			continue
		}
		if choices := Choices(v, "want 2"); want != 0 && want != sample.TextValue && (len(choices) != 3 || choices[0].Kind != want || choices[0].String() != "2") {
			t.Errorf("%s: 2 is read as %v", arg.Name, choices)
		}
	}
	for _, tt := range []struct {
		arg  int
		text string
		want string
	}{
		{0, "one of 'a', 'b'", `"a" "b"`}, {0, "2 or 3", ""},
		{2, "between 2 and 3, not 1009", "2 1 3 4"}, {2, "at most -1", "-1 -2 0"}, {2, "below 1008", "1008 1007 1009"}, {2, "at most 1010", ""}, {2, "0.5 or " + strings.Repeat("9", 400), "0 1"},
		{4, "over 0.5", "0.5 -0.5 1.5"}, {4, "not -1009", ""}, {4, "none", ""},
	} {
		probe, _ := Probe(op.Func.Args[tt.arg].Type)
		var got []string
		for _, v := range Choices(probe, tt.text) {
			got = append(got, v.String())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %s is read as %s, want %s", op.Func.Args[tt.arg].Name, tt.text, got, tt.want)
		}
	}
}
