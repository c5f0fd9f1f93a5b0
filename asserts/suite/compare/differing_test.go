package compare_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
)

// The bytes of elements are compared, and no others.
func TestDiffering(t *testing.T) {
	column := func(bytes string) *asserts.Snapshot { // of a matrix of two columns
		return &asserts.Snapshot{DType: "uint8", Sizes: []int64{2}, Strides: []int64{2}, Nbytes: int64(len(bytes)), Bytes: []byte(bytes)}
	}
	long := column("abcdef")
	long.Sizes = []int64{3}
	transposed := column("abcd")
	transposed.Strides = []int64{1}
	beyond, beyondToo := column("abcd"), column("xyzw")
	beyond.Offset, beyondToo.Offset = 3, 3
	unread := column("xyzw")
	unread.Bytes = nil
	longUnread := &asserts.Snapshot{DType: "uint8", Sizes: []int64{3}, Strides: []int64{2}, Nbytes: 6}
	for _, tt := range []struct {
		name       string
		a, b       *asserts.Snapshot
		differ, of int
	}{
		{"same", column("abcd"), column("abcd"), 0, 0},
		{"an element", column("abcd"), column("abxd"), 1, 2},
		{"elements", column("abcd"), column("xyzw"), 2, 2},
		{"beside", column("abcd"), column("axcx"), 0, 0},
		{"other sizes", column("abcd"), long, 6, 6},
		{"sizes that were others", long, column("abcd"), 6, 6},
		{"other sizes, not read", column("abcd"), longUnread, 6, 6},
		{"other strides", column("abcd"), transposed, 4, 4},
		{"other storages", column("abcd"), column("xyz"), 0, 0},
		{"nothing to compare", column("abcd"), nil, 0, 0},
		{"nothing to compare with", nil, column("abcd"), 0, 0},
		{"not read", column("abcd"), unread, 0, 0},
		{"was not read", unread, column("abcd"), 0, 0},
		{"beyond the storage", beyond, beyondToo, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			op := wholeOp("f(Tensor self) -> Tensor")
			seen := func(s *asserts.Snapshot) *asserts.Seen {
				return &asserts.Seen{Results: []asserts.Observation{{Content: s}}, After: []asserts.Observation{{}}}
			}
			var want []compare.Difference
			if tt.differ > 0 {
				want = []compare.Difference{{Return: 1, Bytes: tt.differ, Of: tt.of, Tensors: [2]*asserts.Snapshot{tt.a, tt.b}}}
			}
			if diff := cmp.Diff(want, compare.Differing(op, seen(tt.a), seen(tt.b))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A tensor whose bytes are not copied may differ if its digest does.
func TestUnknown(t *testing.T) {
	op := wholeOp("f(Tensor(a!) self) -> Tensor")
	large := func(digest uint64, size int64) asserts.Observation {
		return asserts.Observation{Content: &asserts.Snapshot{DType: "uint8", Sizes: []int64{size}, Strides: []int64{1}, Nbytes: asserts.SnapshotLimit + 1, Digest: digest}}
	}
	small := large(1, 1)
	small.Content.Nbytes, small.Content.Bytes = 1, []byte{1}
	other := small
	other.Content = &asserts.Snapshot{DType: "uint8", Sizes: []int64{1}, Strides: []int64{1}, Nbytes: 1, Bytes: []byte{2}, Digest: 2}
	for _, tt := range []struct {
		name string
		a, b asserts.Observation
		want int
	}{
		{"differ", large(1, 8), large(2, 8), 2},
		{"same", large(1, 8), large(1, 8), 0},
		{"other sizes", large(1, 8), large(2, 4), 0},
		{"kept", small, other, 0},
		{"not looked at", large(1, 8), asserts.Observation{}, 0},
		{"not looked at before", asserts.Observation{}, large(1, 8), 0},
	} {
		seen := func(o asserts.Observation) *asserts.Seen {
			return &asserts.Seen{Results: []asserts.Observation{o}, After: []asserts.Observation{o}}
		}
		if n := len(compare.Unknown(op, seen(tt.a), seen(tt.b))); n != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, n, tt.want)
		}
	}
}

// Each return, and each written argument, is reported once.
func TestDifferingPlaces(t *testing.T) {
	op := wholeOp("f(Tensor[] a, Tensor(b!)[] b, Tensor(c!) c) -> (Tensor, Tensor[], Tensor(c!))")
	seen := func(args, results string, argLens, resultLens []int) *asserts.Seen {
		observed := func(bytes string) (all []asserts.Observation) {
			for i := range len(bytes) {
				all = append(all, asserts.Observation{Content: &asserts.Snapshot{DType: "uint8", Nbytes: 1, Bytes: []byte(bytes[i : i+1])}})
			}
			return all
		}
		return &asserts.Seen{After: observed(args), Results: observed(results), ArgLens: argLens, ResultLens: resultLens}
	}
	was := seen("11234", "5678", []int{2, 2, 1}, []int{1, 2, 1})
	for _, tt := range []struct {
		name string
		then *asserts.Seen
		want []compare.Difference
	}{
		{"same", was, nil},
		{"all", seen("xxxxx", "xxxx", []int{2, 2, 1}, []int{1, 2, 1}), []compare.Difference{
			{Return: 1, Bytes: 1, Of: 1}, {Return: 2, Bytes: 1, Of: 1}, {Argument: "b", Bytes: 1, Of: 1}, {Argument: "c", Bytes: 1, Of: 1}}},
		{"behind the first", seen("112x4", "56x8", []int{2, 2, 1}, []int{1, 2, 1}), []compare.Difference{{Return: 2, Bytes: 1, Of: 1}, {Argument: "b", Bytes: 1, Of: 1}}},
		{"a longer list", seen("11234", "567x8", []int{2, 2, 1}, []int{1, 3, 1}), nil},
		{"a shorter list", seen("11234", "568", []int{2, 2, 1}, []int{1, 1, 1}), nil},
	} {
		if diff := cmp.Diff(tt.want, compare.Differing(op, was, tt.then), cmpopts.IgnoreFields(compare.Difference{}, "Tensors")); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tt.name, diff)
		}
	}
}

// Differences are about the same subject if argument and return are equal.
func TestSameDifference(t *testing.T) {
	d := compare.Difference{Argument: "x", Return: 1}
	for _, tt := range []struct {
		other compare.Difference
		want  bool
	}{
		{compare.Difference{Argument: "x", Return: 1, Bytes: 3}, true},
		{compare.Difference{Argument: "y", Return: 1}, false},
		{compare.Difference{Argument: "x", Return: 2}, false},
	} {
		if got := d.Same(tt.other); got != tt.want {
			t.Errorf("the same as %+v: %v", tt.other, got)
		}
	}
}
