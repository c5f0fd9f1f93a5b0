package design

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// The shipped recipes are valid.
func TestRecipesParse(t *testing.T) {
	book := must.Get(Shipped())(t)
	if len(*book) < 50 {
		t.Errorf("%d recipes", len(*book))
	}
}

// A value prints as a text that parses to it.
func TestValueReadsBack(t *testing.T) {
	for _, text := range []string{
		"3", "-1", "0.5", "1e-05", "2.0", "NaN", "-Inf", "true", "none", "default", "'it''s'", "[1, [t[2], none]]", "generator", "0.5+1i", "0.6-0.8i", "same:x", "[same:xs[1], view:x]", "int64[4] sum:9",
		"dtype:quint8", "layout:sparse_csr", "format:channels_last", "device:cuda:1", "qscheme:per_channel_affine", "storage:float32[4, 4]",
		"float32[2, 3] sliced below:5 = [0, 1, 2.5]", "int64[] coo", "t[3] in:-0.5..2", "int32[4] ascending:9",
		"(t[2], 3, 'a')", "{'a': t[2], 'b': none}", "{1: [2.0]}", "{}", "my.Queue(t[2], 3)", "ns::pack(t[2], [1, 1])",
		"ns::take(after ns::add(after ns::add(ns::empty(), t[2]), 3))",
	} {
		v, err := sample.ParseValue(text, sample.NewSymbols(0))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := v.Recipe(); got != text {
			t.Errorf("%s prints as %s", text, got)
		}
	}
}

// A call with tensors that are the same, or views of one storage, prints as a case that makes the
// same call.
func TestReferences(t *testing.T) {
	op := must.Get(schema.ParseDispatcher("ns::f(Tensor a, Tensor[] b, Tensor c, __torch__.torch.classes.ns.Q q, __torch__.torch.classes.ns.Q r, int n) -> Tensor"))(t)
	const text = `{a: "float32[2] sliced", b: "[same:a, int64[3] sum:5]", c: "view:b[1]", q: "ns.Q(t[2])", r: "same:q", n: "2"}`
	book := must.Get(ParseRecipes("x", []byte("- ops: [f]\n  cases: ["+text+"]\n")))(t)
	c := NewGenerator(op, book).Generate(sample.NewRandom(0, "f", 0), 0)
	if all := c.Tensors(); len(all) != 5 || all[1].Same != 1 || all[3].View != 3 || c.Args[4].Int != 3 {
		t.Errorf("read as %v", c)
	}
	if got := c.Recipe(); got != strings.Replace(text, "t[2]", "float32[2]", 1) {
		t.Errorf("%s prints as %s", text, got)
	}
}

// The fill of a value determines its elements.
func TestFillSum(t *testing.T) {
	for _, tt := range []struct{ n, sum, most int64 }{{4, 9, 3}, {3, 9, 3}, {5, 2, 1}, {1, 7, 7}} {
		spec := sample.TensorSpec{DType: "int64", Sizes: []int64{tt.n}, Fill: sample.Fill{Name: "sum", Value: float64(tt.sum)}}
		sum, most := int64(0), int64(0)
		for i := range tt.n {
			v := int64(spec.Value(int(i), 0, []int64{i}))
			sum, most = sum+v, max(most, v)
		}
		if sum != tt.sum || most != tt.most {
			t.Errorf("%d elements of sum %d add up to %d, the largest is %d, want %d", tt.n, tt.sum, sum, most, tt.most)
		}
	}
}

// Symbols have the same size throughout a case, and others in the next.
func TestSymbols(t *testing.T) {
	for _, tt := range []struct {
		round int
		want  string
	}{
		{0, "t[2, 3] int64[7] below:2 5"}, {1, "t[3, 4] int64[13] below:3 7"}, {5, "t[1, 6] int64[7] below:1 7"},
	} {
		sizes, got := sample.NewSymbols(tt.round), ""
		for i, text := range []string{"t[n, m]", "int64[m*n + 1] below:n", "n+m"} {
			v := must.Get(sample.ParseValue(text, sizes))(t)
			if i > 0 {
				got += " "
			}
			got += v.Recipe()
		}
		if got != tt.want {
			t.Errorf("round %d: %s, want %s", tt.round, got, tt.want)
		}
	}
}
