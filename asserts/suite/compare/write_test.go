package compare_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
)

// Tensors of written arguments count if they are plain, have elements and share no storage, by what
// a call changed of them.
func TestWritesOf(t *testing.T) {
	op := &asserts.Op{Args: []asserts.Subject{
		{Index: 0, Type: "Tensor"},
		{Index: 1, Type: "Tensor(a!)", Write: true},
		{Index: 3, Type: "Tensor(b!)?", Write: true},
		{Index: 4, Type: "Tensor(c!)[]", Write: true, List: true},
	}}
	tensor := func(id asserts.ID, change func(*asserts.Observation)) asserts.Observation {
		o := asserts.Observation{
			Impl: id, Storage: id + 100, Version: 3,
			Content: &asserts.Snapshot{DType: "uint8", Sizes: []int64{2}, Strides: []int64{1}, Nbytes: 2, Digest: 7, Bytes: []byte{1, 2}},
		}
		change(&o)
		return o
	}
	same := func(*asserts.Observation) {}
	for _, tt := range []struct {
		name          string
		before, after func(*asserts.Observation)
		want          []compare.Write
	}{
		{"nothing changes", same, same, []compare.Write{{Arg: 1, DType: "uint8", Sizes: []int64{2}}}},
		{"a byte", same, func(o *asserts.Observation) { o.Content.Bytes, o.Content.Digest = []byte{1, 3}, 8 }, []compare.Write{{Arg: 1, DType: "uint8", Sizes: []int64{2}, Changed: true}}},
		{"the version", same, func(o *asserts.Observation) { o.Version = 4 }, []compare.Write{{Arg: 1, DType: "uint8", Sizes: []int64{2}, Changed: true}}},
		{"the sizes", same, func(o *asserts.Observation) { o.Content.Sizes = []int64{1} }, []compare.Write{{Arg: 1, DType: "uint8", Sizes: []int64{2}, Changed: true}}},
		{"the storage", same, func(o *asserts.Observation) { o.Storage = 999 }, []compare.Write{{Arg: 1, DType: "uint8", Sizes: []int64{2}, Changed: true}}},
		{"the tensor", same, func(o *asserts.Observation) { o.Impl = 999 }, []compare.Write{{Arg: 1, DType: "uint8", Sizes: []int64{2}, Changed: true}}},
		{"strided", func(o *asserts.Observation) { o.Content.Sizes, o.Content.Strides = []int64{2, 1, 2}, []int64{1, 9, 2} }, same,
			[]compare.Write{{Arg: 1, DType: "uint8", Sizes: []int64{2, 1, 2}, Strided: true, Changed: true}}},
		{"flat", func(o *asserts.Observation) { o.Content.Sizes, o.Content.Strides = []int64{2, 1, 3}, []int64{6, 9, 2} }, same,
			[]compare.Write{{Arg: 1, DType: "uint8", Sizes: []int64{2, 1, 3}, Changed: true}}},
		{"not seen before", func(o *asserts.Observation) { o.Content = nil }, same, nil},
		{"not seen after", same, func(o *asserts.Observation) { o.Content = nil }, nil},
		{"without elements", func(o *asserts.Observation) { o.Content.Nbytes = 0 }, same, nil},
		{"a subclass", func(o *asserts.Observation) { o.Traits = asserts.DirectSubclass }, same, nil},
		{"undefined", func(o *asserts.Observation) { *o = asserts.Observation{} }, same, nil},
		{"shared with the first", func(o *asserts.Observation) { o.Storage = 101 }, same, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := &asserts.Seen{
				Before: []asserts.Observation{tensor(1, same), tensor(2, tt.before), {}}, ArgLens: []int{1, 1, 1, 0},
				After: []asserts.Observation{tensor(1, same), tensor(2, tt.after), {}},
			}
			if diff := cmp.Diff(tt.want, compare.WritesOf(op, seen)); diff != "" {
				t.Error(diff)
			}
		})
	}
	list := &asserts.Seen{
		Before: []asserts.Observation{tensor(1, same), {}, {}, tensor(4, same), tensor(6, same), tensor(5, same)}, ArgLens: []int{1, 1, 1, 3},
		After: []asserts.Observation{tensor(1, same), {}, {}, tensor(4, same), tensor(6, same), tensor(5, func(o *asserts.Observation) { o.Version = 9 })},
	}
	want := []compare.Write{
		{Arg: 4, DType: "uint8", Of: compare.Other, Sizes: []int64{2}}, {Arg: 4, DType: "uint8", Of: compare.Other, Sizes: []int64{2}}, {Arg: 4, DType: "uint8", Of: compare.Last, Sizes: []int64{2}, Changed: true},
	}
	if diff := cmp.Diff(want, compare.WritesOf(op, list)); diff != "" {
		t.Error(diff)
	}
	raised := *op
	raised.Raises = true
	seen := &asserts.Seen{
		Before: []asserts.Observation{tensor(1, same), tensor(2, same), tensor(3, same)}, ArgLens: []int{1, 1, 1, 0},
		After: []asserts.Observation{tensor(1, same), tensor(2, func(o *asserts.Observation) { o.Version = 4 }), tensor(3, same)},
	}
	unchanged := []compare.Write{{Arg: 1, DType: "uint8", Sizes: []int64{2}}, {Arg: 3, DType: "uint8", Sizes: []int64{2}}} // only the version was raised, by a caller of the kernel
	if diff := cmp.Diff(unchanged, compare.WritesOf(&raised, seen)); diff != "" {
		t.Error(diff)
	}
	if got := compare.WritesOf(op, nil); got != nil {
		t.Errorf("of a call that was not made: %v", got)
	}
	parts := &asserts.Seen{
		Before: []asserts.Observation{tensor(1, same), {}, {}, tensor(2, same)}, ArgLens: []int{1, 1, 1, 0, 0, 1, 0, 0},
		After: []asserts.Observation{tensor(1, same), {}, {}, tensor(2, func(o *asserts.Observation) { o.Version = 4 })},
	}
	if got := compare.WritesOf(asserts.WithParts(op), parts); len(got) > 0 {
		t.Errorf("%+v, want nothing for inner tensors", got)
	}
}

// An argument is noted as never written after 20 calls on tensors of 3 sizes, with the tensors that
// were not.
func TestUnwritten(t *testing.T) {
	for _, tt := range []struct {
		calls, sizes int
		many         bool
	}{{20, 3, true}, {1000, 9, true}, {19, 3, false}, {20, 2, false}} {
		if got := compare.EnoughCalls(tt.calls, tt.sizes); got != tt.many {
			t.Errorf("%d calls on tensors of %d sizes: many is %v", tt.calls, tt.sizes, got)
		}
	}
	const schema = "f(Tensor(a!)[] self) -> ()"
	for of, want := range map[compare.ElementRole]string{compare.Itself: "changed it,", compare.Last: "changed its last element,"} {
		if v := compare.Unwritten("t::f", schema, asserts.Place{Name: "self"}, of, 20, 3); v.Code != asserts.SchemaLint || v.Subject.Name != "self" || !strings.Contains(v.Saw, want) {
			t.Errorf("%v: want %q", v, want)
		}
	}
	for sizes, want := range map[int]string{1: "on tensors of 1 size,", 2: "on tensors of 2 sizes,"} {
		if v := compare.Unwritten("t::f", schema, asserts.Place{Name: "self"}, compare.Itself, 20, sizes); !strings.Contains(v.Saw, want) {
			t.Errorf("%v: want %q", v, want)
		}
	}
}
