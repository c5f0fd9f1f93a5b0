package suite

import "testing"

// The recipes that are shipped read.
func TestRecipesParse(t *testing.T) {
	book, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	if len(*book) < 50 {
		t.Errorf("%d recipes", len(*book))
	}
}

// A value prints as one that reads the same.
func TestValueReadsBack(t *testing.T) {
	for _, text := range []string{
		"3", "-1", "0.5", "1e-05", "2.0", "NaN", "-Inf", "true", "none", "default", "'it''s'", "[1, [t[2], none]]", "generator", "0.5+1i",
		"dtype:quint8", "layout:sparse_csr", "format:channels_last", "device:cuda:1", "qscheme:per_channel_affine", "storage:float32[4, 4]",
		"float32[2, 3] sliced below:5 = [0, 1, 2.5]", "int64[] coo", "t[3] in:-0.5..2", "int32[4] ascending:9",
		"(t[2], 3, 'a')", "{'a': t[2], 'b': none}", "{1: [2.0]}", "{}", "my.Queue(t[2], 3)", "ns::pack(t[2], [1, 1])",
		"ns::take(after ns::add(after ns::add(ns::empty(), t[2]), 3))",
	} {
		v, err := parseValue(text, newSymbols(0))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := v.recipe(); got != text {
			t.Errorf("%s prints as %s", text, got)
		}
	}
}

// Symbols stand for the same size all over a case, and for others in the next.
func TestSymbols(t *testing.T) {
	for _, tt := range []struct {
		round int
		want  string
	}{
		{0, "t[2, 3] int64[7] below:2 5"}, {1, "t[3, 4] int64[13] below:3 7"}, {5, "t[1, 6] int64[7] below:1 7"},
	} {
		sizes, got := newSymbols(tt.round), ""
		for i, text := range []string{"t[n, m]", "int64[m*n + 1] below:n", "n+m"} {
			v, err := parseValue(text, sizes)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				got += " "
			}
			got += v.recipe()
		}
		if got != tt.want {
			t.Errorf("round %d: %s, want %s", tt.round, got, tt.want)
		}
	}
}
