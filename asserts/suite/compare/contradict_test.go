package compare_test

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
)

// paired is a call with one tensor, with the tensors that the kernel and its fake return.
func paired(arg, kernel, fake *asserts.Snapshot) compare.Pair {
	seen := func(result *asserts.Snapshot) *asserts.Seen {
		return &asserts.Seen{Level: asserts.Content, Before: list{{Impl: 1, Content: arg}}, Results: list{{Impl: 2, Content: result}}}
	}
	return compare.Pair{Real: seen(kernel), Other: seen(fake)}
}

func tensorOf(dtype string, sizes, strides []int64) *asserts.Snapshot {
	return &asserts.Snapshot{DType: dtype, Sizes: sizes, Strides: strides}
}

type dims = []int64

// If a kernel and its fake differ, the one is wrong that returns something else in a similar call;
// if neither does, or both, it is unknown.
func TestContradicts(t *testing.T) {
	const kernel, fake = "the kernel contradicts itself", "the fake contradicts itself"
	f, g := tensorOf("float32", dims{2}, dims{1}), tensorOf("float64", dims{2}, dims{1})
	scalar := tensorOf("float32", dims{}, dims{})
	long := tensorOf("float32", dims{3}, dims{1})
	rows, columns := tensorOf("float32", dims{2, 2}, dims{2, 1}), tensorOf("float32", dims{2, 2}, dims{1, 2})
	one, other := tensorOf("float32", dims{1, 2}, dims{2, 1}), tensorOf("float32", dims{1, 2}, dims{7, 1})
	none, void := tensorOf("float32", dims{0, 2}, dims{2, 1}), tensorOf("float32", dims{0, 2}, dims{1, 9})
	short := &asserts.Snapshot{DType: "float32", Sizes: dims{2, 2}, Strides: dims{2}}
	for _, tt := range []struct {
		name        string
		here, there compare.Pair
		want        string
	}{
		{"the kernel's dtype", paired(f, g, f), paired(long, f, f), kernel + ": for similar arguments, in another call, it returns dtype float32, and its fake float32 both times: return that here too"},
		{"the fake's dtype", paired(f, f, g), paired(long, f, f), fake + ": for similar arguments, in another call, it returns dtype float32, and the kernel float32 both times"},
		{"both always", paired(f, g, f), paired(long, g, f), ""},
		{"both change", paired(f, g, f), paired(long, f, g), ""},
		{"the dtype of another dtype", paired(f, g, f), paired(g, f, f), ""},
		{"the dtype of a scalar", paired(f, g, f), paired(scalar, f, f), ""},
		{"the kernel's sizes", paired(f, long, f), paired(f, f, f), kernel + ": for similar arguments, in another call, it returns sizes [2], and its fake [2] both times: return that here too; or, if it depends on contents, leave it open in the fake: torch.library.get_ctx().new_dynamic_size()"},
		{"the fake's sizes", paired(f, f, long), paired(f, f, f), fake},
		{"the sizes of other sizes", paired(f, long, f), paired(long, f, f), ""},
		{"the sizes of another dtype", paired(f, long, f), paired(g, f, f), ""},
		{"the kernel's strides", paired(rows, columns, rows), paired(rows, rows, rows), kernel},
		{"the fake's strides", paired(rows, rows, columns), paired(rows, rows, rows), fake},
		{"the strides of other strides", paired(rows, columns, rows), paired(columns, rows, rows), ""},
		{"strides of a dimension of one", paired(rows, one, other), paired(rows, other, other), ""},
		{"strides without elements", paired(rows, none, void), paired(rows, void, void), ""},
		{"strides that are not known", paired(rows, short, rows), paired(rows, rows, rows), kernel},
		{"nothing differs", paired(f, f, f), paired(f, g, f), ""},
		{"no return of the kernel", paired(f, nil, f), paired(f, f, f), ""},
		{"no return of the fake", paired(f, g, nil), paired(f, f, f), ""},
		{"none of the kernel there", paired(f, g, f), paired(f, nil, f), ""},
		{"none of the fake there", paired(f, g, f), paired(f, f, nil), ""},
		{"arguments that are not seen", paired(nil, g, f), paired(nil, f, f), kernel},
		{"one argument that is not seen", paired(nil, g, f), paired(f, f, f), ""},
	} {
		got := compare.Contradicts(wholeOp("f(Tensor self) -> Tensor"), asserts.Place{Return: true, Element: asserts.NoElement}, tt.here, tt.there, "in another call")
		if !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if open := strings.Contains(got, "new_dynamic_size"); open != strings.Contains(tt.want, "sizes") {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// It is about one return, or one element of a list.
func TestContradictsOf(t *testing.T) {
	f, g := tensorOf("float32", dims{2}, dims{1}), tensorOf("float64", dims{2}, dims{1})
	seen := func(results ...*asserts.Snapshot) *asserts.Seen {
		s := &asserts.Seen{Level: asserts.Content, ResultLens: []int{1, len(results) - 1}}
		for _, c := range results {
			s.Results = append(s.Results, asserts.Observation{Impl: 1, Content: c})
		}
		return s
	}
	here, there := compare.Pair{Real: seen(f, f, g), Other: seen(f, f, f)}, compare.Pair{Real: seen(f, f, f), Other: seen(f, f, f)}
	for _, tt := range []struct {
		at   asserts.Place
		want bool
	}{
		{asserts.Place{Return: true, Index: 1, Element: 1}, true},
		{asserts.Place{Return: true, Index: 1, Element: 0}, false},
		{asserts.Place{Return: true, Index: 1, Element: 2}, false},
		{asserts.Place{Return: true, Index: 0, Element: asserts.NoElement}, false},
		{asserts.Place{Return: true, Index: 2, Element: asserts.NoElement}, false},
		{asserts.Place{Return: true, Index: 1, Element: 1, Inside: true}, false},
		{asserts.Place{Index: 1, Element: 1}, false},
	} {
		if got := compare.Contradicts(wholeOp("f() -> (Tensor, Tensor[])"), tt.at, here, there, ""); (got != "") != tt.want {
			t.Errorf("%v: %q", tt.at, got)
		}
	}
}
