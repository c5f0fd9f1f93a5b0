package asserts

import (
	"slices"
	"testing"
)

func TestSpell(t *testing.T) {
	tests := []struct {
		s     Subject
		sets  []string
		write bool
		want  string
	}{
		{Subject{}, nil, false, "Tensor"},
		{Subject{Suffix: "?[]", After: []string{"*"}}, nil, false, "Tensor?[]"},
		{Subject{Suffix: "[]"}, []string{"a"}, true, "Tensor(a!)[]"},
		{Subject{After: []string{"*"}}, []string{"a"}, true, "Tensor(a! -> *)"},
		{Subject{After: []string{"b", "c"}}, []string{"a"}, false, "Tensor(a -> b|c)"},
		{Subject{}, []string{"a", "b"}, false, "Tensor(a|b)"},
	}
	for _, test := range tests {
		if got := test.s.spell(test.sets, test.write); got != test.want {
			t.Errorf("%+v with %v: %s, want %s", test.s, test.sets, got, test.want)
		}
	}
}

func TestSets(t *testing.T) {
	sets := func(names ...string) []string { return names }
	tests := []struct {
		a, b               Subject
		share, aMay, bMay  bool
		aliased, wild, one bool // of a
	}{
		{a: Subject{}, b: Subject{}},
		{a: Subject{Before: sets("a")}, b: Subject{Before: sets("b")}, aliased: true, one: true},
		{a: Subject{Before: sets("a", "b")}, b: Subject{Before: sets("b")}, share: true, aMay: true, bMay: true, aliased: true},
		{a: Subject{Before: sets("a"), After: sets("b")}, b: Subject{Before: sets("b")}, share: true, aMay: true, bMay: true, aliased: true, one: true},
		{a: Subject{Before: sets("b")}, b: Subject{Before: sets("a"), After: sets("b")}, share: true, aMay: true, bMay: true, aliased: true, one: true},
		{a: Subject{Before: sets("*")}, b: Subject{Before: sets("*")}, aMay: true, bMay: true, aliased: true, wild: true},
		{a: Subject{Before: sets("a"), After: sets("*")}, b: Subject{Before: sets("b"), After: sets("*")}, aMay: true, bMay: true, aliased: true, wild: true, one: true},
		{a: Subject{Before: sets("*", "a")}, b: Subject{}, aMay: true, aliased: true, wild: true, one: true},
		{a: Subject{After: sets("*")}, b: Subject{Before: sets("x")}, aMay: true, aliased: true, wild: true},
	}
	for _, test := range tests {
		a, b := &test.a, &test.b
		if shareSet(a, b) != test.share || shareSet(b, a) != test.share || mayShare(a, b) != test.aMay || mayShare(b, a) != test.bMay {
			t.Errorf("%v, %v and %v, %v: share %v, may %v and %v", a.Before, a.After, b.Before, b.After, shareSet(a, b), mayShare(a, b), mayShare(b, a))
		}
		if a.aliased() != test.aliased || a.anything() != test.wild || (len(a.sets()) == 1) != test.one || slices.Contains(a.sets(), "*") {
			t.Errorf("%v, %v: aliased %v, anything %v, sets %v", a.Before, a.After, a.aliased(), a.anything(), a.sets())
		}
	}
}

func TestFreeSet(t *testing.T) {
	var letters []string
	for c := 'a'; c <= 'z'; c++ {
		letters = append(letters, string(c))
	}
	tests := []struct {
		op   Op
		want string
	}{
		{Op{}, "a"},
		{Op{Args: []Subject{{Before: []string{"b"}}}}, "a"},
		{Op{Args: []Subject{{Before: []string{"a"}}}, Results: []Subject{{Before: []string{"b"}}}}, "c"},
		{Op{Args: []Subject{{Before: []string{"a"}, After: []string{"b", "*"}}}}, "c"},
		{Op{Results: []Subject{{Before: letters[:25]}}}, "z"},
		{Op{Results: []Subject{{Before: letters}}}, "za"},
		{Op{Results: []Subject{{Before: append(letters, "za")}}}, "zb"},
	}
	for _, test := range tests {
		if got := test.op.freeSet(); got != test.want {
			t.Errorf("%+v: %s, want %s", test.op, got, test.want)
		}
	}
}

// Positions beyond an op's subjects are ignored.
func TestRefs(t *testing.T) {
	op := &Op{Args: []Subject{{Index: 1, Name: "x"}}, Results: []Subject{{Index: 0, Name: "y"}, {Index: 0, Name: "y.parts", Inside: true}}}
	for ref, want := range map[Ref]string{1: "x", -1: "y", -2: "y.parts", 0: "", 2: "", -3: ""} {
		got := ""
		if s := op.Subject(ref); s != nil {
			got = s.Name
		}
		if got != want {
			t.Errorf("%d is %q, want %q", ref, got, want)
		}
		_, isArg := ref.Arg()
		_, isResult := ref.Result()
		if isArg != (ref > 0) || isResult != (ref < 0) {
			t.Errorf("%d: argument %v, return %v", ref, isArg, isResult)
		}
	}
	for _, test := range []struct {
		place Place
		want  string
	}{
		{Place{Index: 1}, "x"}, {Place{Return: true}, "y"}, {Place{Return: true, Inside: true}, "y.parts"}, {Place{}, ""}, {Place{Index: 1, Inside: true}, ""},
	} {
		got := ""
		if s := op.at(test.place); s != nil {
			got = s.Name
		}
		if got != test.want {
			t.Errorf("%+v is %q, want %q", test.place, got, test.want)
		}
	}
}
