package asserts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

func TestInplaceMetadata(t *testing.T) {
	as := func(impl, storage asserts.ID, sizes ...int64) asserts.Observation {
		return see(impl, storage, holding("abcd"), shaped(func(c *asserts.Snapshot) { c.Sizes = sizes }))
	}
	placed := func(offset int64, dtype string, sizes, strides []int64) asserts.Observation {
		return see(3, 4, holding("abcd"), shaped(func(c *asserts.Snapshot) {
			c.Sizes, c.Strides, c.Offset, c.DType, c.Names = sizes, strides, offset, dtype, dtype
		}))
	}
	square, rows, column := []int64{2, 2}, []int64{2, 1}, []int64{1, 2}
	into := "f(Tensor self, *, Tensor(a!) out) -> ()"
	tests := []struct {
		name          string
		schema        string
		tags          []string
		args          []int
		before, after list
		want          []string
	}{
		{name: "kept", schema: "f_(Tensor(a!) self) -> ()", before: list{as(1, 2, 4)}, after: list{as(1, 2, 4)}},
		{
			name: "reshaped", schema: "f_(Tensor(a!) self) -> ()", before: list{as(1, 2, 4)}, after: list{as(1, 2, 2, 2)},
			want: []string{"OA013 argument self: sizes [4] -> [2 2]"},
		},
		{
			name: "an element of a written list", schema: "f(Tensor self, Tensor(a!)[] ts) -> Tensor", args: []int{1, 2},
			before: list{as(1, 2, 4), as(3, 4, 4), as(5, 6, 4)}, after: list{as(1, 2, 4), as(3, 4, 4), as(5, 6, 2, 2)},
			want: []string{"OA013 argument ts[1]: sizes [4] -> [2 2]"},
		},
		{
			name: "one tensor twice", schema: "f(Tensor(a!) x, Tensor(b!) y) -> ()",
			before: list{as(1, 2, 4), as(1, 2, 4)}, after: list{as(1, 2, 2), as(1, 2, 2)},
			want: []string{"OA013 argument x: sizes [4] -> [2]"},
		},
		{name: "out", schema: "f(Tensor self, *, Tensor(a!) out) -> ()", before: list{as(1, 2, 4), as(3, 4, 4)}, after: list{as(1, 2, 4), as(3, 4, 2)}},
		{
			name: "out that fits, with other strides", schema: into,
			before: list{as(1, 2, 4), placed(0, "int8", square, column)}, after: list{as(1, 2, 4), placed(0, "int8", square, rows)},
			want: []string{"OA013 argument out: strides [1 2] -> [2 1]"},
		},
		{
			name: "out that fits, moved", schema: into,
			before: list{as(1, 2, 4), placed(1, "int8", square, rows)}, after: list{as(1, 2, 4), placed(0, "int8", square, rows)},
			want: []string{"OA013 argument out: offset 1 -> 0"},
		},
		{
			name: "out that fits, of another dtype", schema: into,
			before: list{as(1, 2, 4), placed(0, "int8", square, rows)}, after: list{as(1, 2, 4), placed(0, "bool", square, rows)},
			want: []string{"OA013 argument out: dtype int8 -> bool"},
		},
		{
			name: "out that is resized, with other strides and offset", schema: into,
			before: list{as(1, 2, 4), placed(1, "int8", []int64{4}, []int64{2})}, after: list{as(1, 2, 4), placed(0, "bool", square, rows)},
		},
		{
			name: "strides of out that reach no element", schema: into,
			before: list{as(1, 2, 4), placed(0, "int8", []int64{1, 4}, []int64{1, 1})}, after: list{as(1, 2, 4), placed(0, "int8", []int64{1, 4}, []int64{4, 1})},
		},
		{
			name: "in place and out that fits, moved", schema: "f(Tensor(a!) x, *, Tensor(b!) out) -> ()",
			before: list{placed(1, "int8", square, rows), placed(1, "int8", square, rows)}, after: list{placed(0, "int8", square, rows), placed(0, "int8", square, rows)},
			want: []string{"OA013 argument x: offset 1 -> 0"},
		},
		{name: "out by position", schema: "f(Tensor self, Tensor(a!) out) -> ()", before: list{as(1, 2, 4), as(3, 4, 4)}, after: list{as(1, 2, 4), as(3, 4, 2)}},
		{
			name: "what is called out and only read is not an output", schema: "f(Tensor(a!) x, Tensor out) -> ()",
			before: list{as(1, 2, 4), as(1, 2, 4)}, after: list{as(1, 2, 2), as(1, 2, 2)},
			want: []string{"OA013 argument x: sizes [4] -> [2]"},
		},
		{name: "in place and out", schema: "f(Tensor(a!) x, *, Tensor(b!) out) -> ()", before: list{as(1, 2, 4), as(1, 2, 4)}, after: list{as(1, 2, 2), as(1, 2, 2)}},
		{name: "in-place view", schema: "f_(Tensor(a!) self) -> ()", tags: []string{"inplace_view"}, before: list{as(1, 2, 4)}, after: list{as(1, 2, 2)}},
		{name: "another tag", schema: "f_(Tensor(a!) self) -> ()", tags: []string{"core"}, before: list{as(1, 2, 4)}, after: list{as(1, 2, 2)}, want: []string{"OA013 argument self: sizes [4] -> [2]"}},
		{name: "resize_", schema: "resize_(Tensor(a!) self) -> ()", before: list{as(1, 2, 4)}, after: list{as(1, 2, 2)}},
		{name: "a resize of sparse tensors", schema: "sparse_resize_and_clear_.x(Tensor(a!) self) -> ()", before: list{as(1, 2, 4)}, after: list{as(1, 2, 2)}},
		{name: "set_", schema: "set_.source(Tensor(a!) self) -> ()", before: list{as(1, 2, 4)}, after: list{as(1, 2, 2)}},
		{name: "set_data", schema: "set_data(Tensor(a!) self, Tensor new) -> ()", before: list{as(1, 2, 4), as(3, 4, 4)}, after: list{as(1, 2, 2), as(3, 4, 4)}},
		{name: "another storage is OA002", schema: "f_(Tensor(a!) self) -> ()", before: list{as(1, 2, 4)}, after: list{as(1, 9, 2)}, want: []string{"OA002 argument self: argument self was on StorageImpl #2 before the call and is on #9 after it"}},
		{name: "another tensor is OA001", schema: "f_(Tensor(a!) self) -> ()", before: list{as(1, 2, 4)}, after: list{as(8, 9, 2)}, want: []string{"OA001 argument self: argument self was TensorImpl #1 before the call and is #8 after it"}},
		{name: "filled in", schema: "f_(Tensor(a!)? self) -> ()", before: list{undefined}, after: list{as(8, 9, 2)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			op := wholeOp(test.schema, test.tags...)
			verdict := asserts.Judge(op, &asserts.Seen{Level: asserts.Content, Before: test.before, After: test.after, ArgLens: test.args}, asserts.Aware())
			var got []string
			for _, v := range verdict.Violations {
				got = append(got, said(v))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	undefinedOne := asserts.Judge(wholeOp("f_(Tensor(a!)? self) -> ()"), &asserts.Seen{Level: asserts.Content, Before: list{undefined}, After: list{undefined}}, asserts.Aware())
	if n := undefinedOne.Judged[asserts.InplaceMetadata]; n != 0 || len(undefinedOne.Skips) > 0 {
		t.Errorf("an undefined argument is judged %d times, skips %v", n, undefinedOne.Skips)
	}
}

// Out-variants are recognized by position, whatever the argument's name.
func TestOutputOfAnotherName(t *testing.T) {
	as := func(impl, storage asserts.ID, sizes ...int64) asserts.Observation {
		return see(impl, storage, holding("abcd"), shaped(func(c *asserts.Snapshot) { c.Sizes = sizes }))
	}
	seen := &asserts.Seen{Level: asserts.Content, Before: list{as(1, 2, 4), as(3, 4, 4)}, After: list{as(1, 2, 4), as(3, 4, 2)}, Results: list{as(3, 4, 2)}}
	op := wholeOp("max.values(Tensor self, *, Tensor(a!) values) -> Tensor(a!)")
	if got := asserts.Judge(op, seen, asserts.Aware()).Violations; codesOf(got).Has(asserts.InplaceMetadata) {
		t.Errorf("a resized output: %v", got)
	}
}

// A functional wrapper has the metadata of the out-of-place op's result below functionalization,
// which does not depend on the in-place kernel.
func TestInplaceMetadataOfFunctionalWrapper(t *testing.T) {
	for _, test := range []struct {
		traits   asserts.Traits
		violated bool
	}{{0, true}, {asserts.FunctionalWrapper, false}} {
		as := func(sizes ...int64) asserts.Observation {
			return see(1, 2, holding("abcd"), shaped(func(c *asserts.Snapshot) { c.Sizes = sizes }), traits(test.traits))
		}
		seen := &asserts.Seen{Level: asserts.Content, Before: list{as(3)}, After: list{as(0, 3)}}
		verdict := asserts.Judge(wholeOp("f_(Tensor(a!) self) -> ()"), seen, asserts.Aware())
		if got := codesOf(verdict.Violations).Has(asserts.InplaceMetadata); got != test.violated {
			t.Errorf("traits %b: reported %v, want %v", test.traits, got, test.violated)
		}
		skipped := 0
		for _, s := range verdict.Skips {
			if s.Code == asserts.InplaceMetadata {
				skipped += s.Count
			}
		}
		if (skipped == 1) == test.violated {
			t.Errorf("traits %b: skipped %d times, violated %v", test.traits, skipped, test.violated)
		}
	}
}

// A dimension keeps its name, or may get one.
func TestLostNames(t *testing.T) {
	for _, test := range []struct {
		before, after string
		lost          bool
	}{
		{"A, B", "A, B", false}, {"", "A, B", false}, {"*, B", "A, B", false}, {"", "", false},
		{"A, B", "", true}, {"A, B", "A, C", true}, {"A, B", "A", true},
	} {
		op := &asserts.Op{Name: "t::f_", Schema: "f_(Tensor(a!) self) -> ()", Args: []asserts.Subject{{Name: "self", Type: "Tensor(a!)", Before: []string{"a"}, Write: true}}}
		seen := func(names string) []asserts.Observation {
			return []asserts.Observation{{Impl: 1, Storage: 2, Content: &asserts.Snapshot{DType: "float32", Names: names}}}
		}
		verdict := asserts.Judge(op, &asserts.Seen{Level: asserts.Content, Before: seen(test.before), After: seen(test.after)}, asserts.Aware())
		if lost := len(verdict.Violations) == 1 && verdict.Violations[0].Code == asserts.InplaceMetadata; lost != test.lost || !lost && len(verdict.Violations) > 0 {
			t.Errorf("%q -> %q: %v", test.before, test.after, verdict.Violations)
		}
	}
}
