package sample

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// References are resolved among the earlier arguments, and print as they were parsed.
func TestRefer(t *testing.T) {
	for _, tt := range []struct {
		texts  []string
		call   string // what is called
		recipe string // "": texts
	}{
		{[]string{"float32[2]", "same:a"}, "a=float32[2], b=the same as tensor 1", ""},
		{[]string{"[float32[2], int8[3]]", "view:a[1]"}, "a=[float32[2], int8[3]], b=a view of tensor 2", ""},
		{[]string{"float32[2]", "same:a", "same:b"}, "a=float32[2], b=the same as tensor 1, c=the same as tensor 1", "{a: float32[2], b: same:a, c: same:a}"},
		{[]string{"float32[2]", "same:a", "view:b"}, "a=float32[2], b=the same as tensor 1, c=a view of tensor 1", "{a: float32[2], b: same:a, c: view:a}"},
		{[]string{"float32[2]", "same:_0"}, "a=float32[2], b=the same as tensor 1", "{a: float32[2], b: same:a}"},
		{[]string{"float32[2]", "same:_1"}, "a=float32[2]", "{a: float32[2]}"},
		{[]string{"float32[2]", "same:0"}, "a=float32[2]", "{a: float32[2]}"},
		{[]string{"float32[2]", "same:_x"}, "a=float32[2]", "{a: float32[2]}"},
		{[]string{"float32[2]", "same:c", "float32[3]"}, "a=float32[2], c=float32[3]", "{a: float32[2], c: float32[3]}"},
		{[]string{"3", "same:a"}, "a=3, b=same:a", ""},
		{[]string{"[float32[2]]", "same:a"}, "a=[float32[2]], b=same:a", ""},
		{[]string{"[float32[2]]", "same:a[1]"}, "a=[float32[2]], b=same:a[1]", ""},
	} {
		c := call(t, tt.texts...)
		if got, want := c.String(), "aten::f("+tt.call+")"; got != want {
			t.Errorf("%v calls %s, want %s", tt.texts, got, want)
		}
		want := tt.recipe
		if want == "" {
			var words []string
			for i, text := range tt.texts {
				words = append(words, c.Names[i]+": "+text)
			}
			want = "{" + strings.Join(words, ", ") + "}"
		}
		if got := strings.ReplaceAll(c.Recipe(), `"`, ""); got != want {
			t.Errorf("%v prints as %s, want %s", tt.texts, got, want)
		}
	}
}

// An argument without a name has one by its position; a reference by it remains even if another
// argument gets that name.
func TestReferByName(t *testing.T) {
	c := &Case{Op: "f", Names: []string{"_1", "b", ""}, Args: []Value{value(t, "int8[2]"), value(t, "int8[3]"), value(t, "same:_1")}}
	c.Refer()
	if got, want := c.Recipe(), `{_1: "int8[2]", b: "int8[3]", _2: "same:_1"}`; got != want || c.Args[2].Tensor.Same != 1 {
		t.Errorf("%s, want %s", got, want)
	}
}

// A tensor that refers to a removed one is separate, as when the case is made.
func TestRecipeWithoutTheOther(t *testing.T) {
	for _, text := range []string{"same:a[1]", "view:a[1]"} {
		c := call(t, "[float32[2], int8[3]]", text)
		c.Args[0].List = c.Args[0].List[:1]
		if got, want := c.Recipe(), `{a: "[float32[2]]", b: "int8[3]"}`; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestReferences(t *testing.T) {
	refs := value(t, "[same:x, (1, view:xs[2])]").References(nil)
	if !slices.Equal(refs, []string{"same:x", "view:xs[2]"}) || ArgumentOf(refs[0]) != "x" || ArgumentOf(refs[1]) != "xs" {
		t.Errorf("%q", refs)
	}
}

// Errors are shortened between characters.
func TestShortened(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, tt := range []struct{ name, got, want string }{
		{"short line", Line(" a\n  b "), "a b"},
		{"line of 160 bytes", Line(long[:160]), long[:160]},
		{"long line", Line("x" + long), "x" + long[:158] + "..."},
		{"short", Clip(" a\n b\xff"), "a\n b?"},
		{"of 400 bytes", Clip(long[:400]), long[:400]},
		{"long", Clip(long), long[:400] + "..."},
		{"cut within a character", Clip("x" + long), "x" + long[:398] + "..."},
	} {
		if tt.got != tt.want || !utf8.ValidString(tt.got) {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

// A case has the same random numbers in every run, and others than its neighbours.
func TestNewRandom(t *testing.T) {
	first := func(seed uint64, op string, number int) uint64 { return NewRandom(seed, op, number).Uint64() }
	once, again := first(1, "f", 2), first(1, "f", 2)
	if once != again {
		t.Error("twice the same case, and other numbers")
	}
	had := map[uint64]bool{}
	for _, n := range []uint64{first(1, "f", 2), first(2, "f", 2), first(1, "g", 2), first(1, "f", 3)} {
		had[n] = true
	}
	if len(had) != 4 {
		t.Errorf("%v", had)
	}
	rng := NewRandom(1, "f", 2)
	hits := 0
	for range 3000 {
		if OneIn(rng, 3) {
			hits++
		}
	}
	if hits < 800 || hits > 1200 {
		t.Errorf("%d of 3000, one in three", hits)
	}
}
