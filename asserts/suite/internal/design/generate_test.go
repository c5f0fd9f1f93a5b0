package design

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// book parses recipes.
func book(t *testing.T, text string) *Recipes {
	t.Helper()
	return must.Get(ParseRecipes("c", []byte(text)))(t)
}

// read parses a value.
func read(t *testing.T, text string) sample.Value {
	t.Helper()
	v, err := sample.ParseValue(text, sample.NewSymbols(0))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// The first cases have the themes in turn, those of recipes the first one, and later ones any, with
// an arrangement only for strided tensors.
func TestThemes(t *testing.T) {
	op := ops(t, "ns::f(Tensor a) -> Tensor")[0]
	g := NewGenerator(op, book(t, "- ops: [f]\n  cases: [{a: 't'}, {a: 't[2]'}, {a: 't[3]'}]\n"))
	if g.Openings() != 3+len(Themes) {
		t.Errorf("%d openings", g.Openings())
	}
	for n := range g.Openings() {
		want := &Themes[max(0, n-3)]
		if th := g.Theme(nil, n); fmt.Sprint(th) != fmt.Sprint(*want) {
			t.Errorf("case %d has the theme %v, want %v", n, th, *want)
		}
	}
	arranged, seen := 0, make(map[string]bool)
	for n := range 300 {
		th := g.Theme(sample.NewRandom(1, "f", n), g.Openings()+n)
		if seen[fmt.Sprint(th)] = true; th.arrangement == tensor.Contiguous {
			continue
		}
		if arranged++; th.form != engine.Strided {
			t.Errorf("a tensor is %v and %v", th.arrangement, th.form)
		}
	}
	if arranged == 0 || len(seen) < 100 {
		t.Errorf("%d of 300 themes are arranged, %d differ", arranged, len(seen))
	}
}

// Recipes have the first cases, and of the others all but each fourth in turn; symbols have other
// sizes when a recipe is repeated.
func TestRecipesTakeTurns(t *testing.T) {
	op := ops(t, "ns::f(Tensor a, int k=1, *, Tensor b) -> Tensor")[0]
	g := NewGenerator(op, book(t, "- ops: [f]\n  cases: [{a: 'int8[n]'}, {a: 'int16[n]'}, {_0: 'int32[n]'}, {a: 'int16[n, n]'}]\n- ops: [g]\n  cases: [{a: 'int64[9]'}]\n"))
	for n := range 40 {
		c := g.Generate(sample.NewRandom(0, "f", n), n)
		if c.Number != n || c.Op != "ns::f" || !slices.Equal(c.Names, []string{"a", "k", "b"}) || c.Args[2].Kind != sample.TensorValue {
			t.Errorf("case %d is %v", n, c)
		}
		if agreed := n < 4 || n%4 != 3; c.Agreed != agreed {
			t.Errorf("case %d is of a recipe: %v", n, c.Agreed)
		} else if want := []string{"int8", "int16", "int32", "int16"}[n%4]; agreed && (c.Args[0].Tensor.DType != want || c.Args[0].Tensor.Sizes[0] != sample.SymbolSizes[n/4%len(sample.SymbolSizes)]) {
			t.Errorf("case %d is %v, want %s", n, c, want)
		}
		if n < 4 && c.Args[1].Kind != sample.DefaultValue {
			t.Errorf("case %d, of a recipe that leaves k out, is %v", n, c)
		}
	}
	if c := NewGenerator(op, new(Recipes)).Generate(sample.NewRandom(0, "f", 0), 0); c.Agreed {
		t.Error("a case of no recipe is of one")
	}
}

// A tensor of a recipe has the theme's properties where the recipe has none, and every other time a
// dtype for numbers.
func TestRecipesFollowTheTheme(t *testing.T) {
	op := ops(t, "ns::f(Tensor a, Tensor b, Tensor c, Tensor d) -> Tensor")[0]
	const recipe = "{a: 't[2, 2, 2, 2]', b: 'float16[2, 2]', c: 't[2, 2] sliced', d: 't[2, 2] coo'}"
	for count := range 4 {
		g := NewGenerator(op, book(t, "- ops: [f]\n  cases: ["+recipe+strings.Repeat(", "+recipe, count)+"]\n"))
		for n := range g.Openings() {
			th, c := g.Theme(nil, n), g.Generate(sample.NewRandom(0, "f", n), n)
			if !c.Agreed || th.same {
				continue
			}
			got := c.Tensors()
			want := &sample.TensorSpec{DType: th.dtype, Sizes: got[0].Sizes, Arrangement: th.arrangement, Form: th.form}
			if class := sample.Element(th.dtype).Class(); n%2 == 0 && class != tensor.Floating && class != tensor.Complex {
				want.DType = "float32"
			}
			if want.Legal(); got[0].String() != want.String() {
				t.Errorf("case %d, %v: %v, want %v", n, th, got[0], want)
			}
			if got[1].String() != "float16[2, 2]" || th.form == engine.Strided && got[2].Arrangement != tensor.Sliced || got[3].Form != engine.COO {
				t.Errorf("case %d changes what is written: %v", n, c)
			}
		}
	}
}

// An argument with a default is omitted, unless the theme has edges or varies them: then it is
// given, or sometimes given.
func TestDefaults(t *testing.T) {
	op := ops(t, "ns::f(Tensor a, int k=1, *, bool flag=False) -> Tensor")[0]
	g := NewGenerator(op, new(Recipes))
	for n, th := range Themes {
		given := 0
		for seed := range uint64(40) {
			c := g.Generate(sample.NewRandom(seed, "f", n), n)
			if c.Args[0].Kind != sample.TensorValue {
				t.Errorf("without a default: %v", c)
			}
			for _, v := range c.Args[1:] {
				if v.Kind != sample.DefaultValue {
					given++
				}
			}
		}
		if want := th.edge || th.vary; want != (given > 0) || th.edge != (given == 80) {
			t.Errorf("theme %v: %d of 80 arguments are given", th, given)
		}
	}
}

// If the theme asks for it, compatible arguments are one tensor, except those for results.
func TestOneTensor(t *testing.T) {
	op := ops(t, "ns::f(Tensor a, Tensor b, Tensor index, Tensor[] list, *, Tensor(a!) out) -> Tensor(a!)")[0]
	g := NewGenerator(op, new(Recipes))
	for n, th := range Themes {
		all := g.Generate(sample.NewRandom(0, "f", n), n).Tensors()
		var same []int
		for _, ts := range all {
			same = append(same, ts.Same)
		}
		want := []int{0, 0, 0, 0, 0, 0}
		if th.same {
			want = []int{0, 1, 0, 1, 1, 0}
		}
		if !slices.Equal(same, want) {
			t.Errorf("theme %v: the same tensors are %d", th, same)
		}
	}
	for _, tt := range []struct{ other, want string }{
		{"float32[2]", "1"}, {"same:a", "1"}, {"float64[2]", "0"}, {"float32[3]", "0"}, {"float32[2] coo", "0"},
	} {
		c := &sample.Case{Names: []string{"a", "b", "index", "list", "out"}, Args: []sample.Value{read(t, "float32[2]"), read(t, tt.other), read(t, tt.other), {}, {}}}
		c.Refer()
		g.unify(c)
		first, second := c.Args[1].Tensor.Same, c.Args[2].Tensor.Same
		if fmt.Sprint(first) != tt.want || second != map[string]int{"1": 1, "0": 2}[tt.want] {
			t.Errorf("float32[2] and twice %s: %d, %d", tt.other, first, second)
		}
	}
}

// An out argument with elements has values that the others do not have.
func TestOutsAreMarked(t *testing.T) {
	op := ops(t, "ns::f(Tensor a, Tensor(b!) out_b, Tensor output, Tensor(c!) inout, *, Tensor(a!) result) -> Tensor(a!)")[0]
	if is := []bool{false, true, false, false, true}; !slices.EqualFunc(op.Func.Args, is, func(a schema.Argument, out bool) bool { return IsOut(a) == out }) {
		t.Errorf("results go into %v", op.Func.Args)
	}
	for text, want := range map[string]string{
		"float32[2]": "float32[2] count", "float32[0]": "float32[0]", "float32[2] const:3": "float32[2] const:3", "float32[2] coo": "float32[2] coo", "float32[2] quantized": "float32[2] quantized count", "same:a": "the same as tensor 1",
	} {
		c := &sample.Case{Names: []string{"a", "out_b", "output", "inout", "result"}, Args: []sample.Value{read(t, "float32[2]"), read(t, text), read(t, text), read(t, "float32[2]"), read(t, text)}}
		c.Refer()
		NewGenerator(op, new(Recipes)).mark(c)
		for i, out := range []bool{false, true, false, false, true} {
			before := []string{"float32[2]", text, text, "float32[2]", text}[i]
			if before == "same:a" {
				before = want
			}
			if got := c.Args[i].Tensor.String(); out && got != want || !out && got != before {
				t.Errorf("argument %d, %s, is %s", i, text, got)
			}
		}
	}
}

// For a recipe that did not run as written, the differing arguments are reported.
func TestUnfit(t *testing.T) {
	op := ops(t, "ns::f(Tensor a, int b, int c, int d) -> Tensor")[0]
	b := book(t, "- ops: [f]\n  cases:\n    - {a: 't[2]', b: '1', _2: '2'}\n    - {a: 't[3]'}\n")
	written := &sample.Case{Names: []string{"a", "b", "", "d"}, Args: []sample.Value{read(t, "float32[2]"), sample.Int(1), sample.Int(2), sample.Int(3)}}
	for _, tt := range []struct {
		name string
		ran  []sample.Value
		want []string
	}{
		{"as it is", written.Args, nil},
		{"what is left open", []sample.Value{read(t, "float32[2]"), sample.Int(1), sample.Int(2), sample.Int(4)}, nil},
		{"one by name", []sample.Value{read(t, "float32[2]"), sample.Int(5), sample.Int(2), sample.Int(4)}, []string{" b ", "no good"}},
		{"one by position", []sample.Value{read(t, "float32[2]"), sample.Int(1), sample.Int(5), sample.Int(4)}, []string{" _2 ", "no good"}},
		{"two", []sample.Value{read(t, "float32[9]"), sample.Int(5), sample.Int(2), sample.Int(4)}, []string{" a, b ", "no good"}},
		{"never", nil, []string{"never", "no good"}},
	} {
		var ran *sample.Case
		if tt.ran != nil {
			ran = &sample.Case{Args: tt.ran}
		}
		got := (*b)[0].Unfit(written, ran, errors.New("no good"))
		for _, part := range tt.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q, want %q", tt.name, got, part)
			}
		}
		if tt.want == nil && got != "" {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	for n, want := range []string{"c:3:7", "c:4:7", ""} {
		if pos, ok := b.At(op, n); ok != (want != "") || ok && pos.String() != want {
			t.Errorf("case %d is from %v, %v", n, pos, ok)
		}
	}
}
