package asserts_test

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/opassert/opassert/asserts"
)

func TestSliceID(t *testing.T) {
	array := make([]float32, 8, 12)
	id := asserts.SliceID(array)
	if id == 0 {
		t.Fatal("an array has no ID")
	}
	for name, s := range map[string][]float32{"front": array[:3], "back": array[5:], "empty": array[4:4], "beyond": array[:12]} {
		if asserts.SliceID(s) != id {
			t.Errorf("%s: another ID", name)
		}
	}
	if asserts.SliceID(append([]float32(nil), array...)) == id {
		t.Error("a copy has the same ID")
	}
	if asserts.SliceID([]float32(nil)) != 0 || asserts.SliceID(make([]struct{}, 3)) != 0 {
		t.Error("no array has an ID")
	}
}

var empty []float32 // not on the stack

// Unrelated empty slices have one address.
func TestPointerID(t *testing.T) {
	empty = make([]float32, len(empty))
	if a := unsafe.SliceData(empty); asserts.PointerID(a) != 0 {
		t.Error("an array without bytes has an ID")
	}
	if asserts.PointerID[int](nil) != 0 || asserts.PointerID(heap) == 0 {
		t.Error("nil has an ID, or an object has none")
	}
}

// A tensor that is a value may be missing, as a pointer may be nil.
func TestObserveNothing(t *testing.T) {
	if o := asserts.Observe(nil, asserts.Content); o.Defined() {
		t.Errorf("nil is seen as %v", o)
	}
	if got := asserts.Optional[*tensor](nil); got != nil {
		t.Errorf("no tensor becomes %v", got)
	}
	x := newTensor(4)
	if got := asserts.Observe(asserts.Optional(&x), asserts.Identity); got.Impl != x.impl.id {
		t.Errorf("a tensor becomes %v", got)
	}
}

type matrix struct{ data []float64 }

var heap = &matrix{make([]float64, 6)} // a stack may move

func TestObserveSlice(t *testing.T) {
	m := heap
	var o asserts.Observation
	asserts.ObserveSlice(&o, asserts.Content, m, m.data, 2, 1, 3)
	if o.Impl != asserts.PointerID(m) || o.Storage != asserts.SliceID(m.data) || o.ImplUses != asserts.NotCounted || o.Traits != asserts.NoVersion {
		t.Errorf("%+v", o)
	}
	if c := o.Content; c == nil || !slices.Equal(c.Sizes, []int64{2, 1, 3}) || !slices.Equal(c.Strides, []int64{3, 3, 1}) || c.Nbytes != 48 {
		t.Errorf("%+v", c)
	}
	o = asserts.Observation{}
	if asserts.ObserveSlice(&o, asserts.Content, (*matrix)(nil), m.data); o.Defined() {
		t.Errorf("nil is seen as %+v", o)
	}
	sizes := int64(len(m.data))
	if n := testing.AllocsPerRun(100, func() { asserts.ObserveSlice(&o, asserts.Identity, m, m.data, sizes) }); n != 0 {
		t.Errorf("%v allocations at the identity level", n)
	}
}

// An element's position is that in the storage, whatever dtype the library reports.
func TestWidenedContent(t *testing.T) {
	op := asserts.Op{Name: "a::f_", Schema: "f_(Tensor(a!) self) -> Tensor(a!)", Args: []asserts.Subject{{Index: 0, Name: "self", Type: "Tensor(a!)", Before: []string{"a"}, Write: true}}}
	op.Checks = []asserts.Check{{Code: asserts.WriteBeside, On: asserts.ArgRef(0)}}
	array := make([]float64, 6)
	see := func() []asserts.Observation {
		o := asserts.Observation{Impl: 1, Storage: 2, ImplUses: asserts.NotCounted, StorageUses: asserts.NotCounted}
		o.Content = asserts.SliceContent(array, []int64{3}, []int64{1}, 1)
		o.Content.DType = "float32"
		return []asserts.Observation{o}
	}
	for at, want := range map[int]int{3: 0, 4: 1} {
		seen := asserts.Seen{Level: asserts.Content, Before: see()}
		array[at]++
		seen.After = see()
		if v := asserts.Judge(&op, &seen, asserts.Aware()).Violations; len(v) != want {
			t.Errorf("element %d of the storage is written: %v", at, v)
		}
	}
}

func TestSliceContent(t *testing.T) {
	array := []float32{1, 2, 3, 4, 5, 6}
	see := func() *asserts.Snapshot { return asserts.SliceContent(array, []int64{2}, []int64{1}, 1) }
	before := see()
	if before.DType != "float32" || before.Nbytes != 24 || len(before.Bytes) != 24 || before.Offset != 1 {
		t.Errorf("%+v", before)
	}
	if see().Digest != before.Digest {
		t.Error("the digest changes by itself")
	}
	array[5] = 7 // outside of the view
	if see().Digest == before.Digest {
		t.Error("the digest misses a write")
	}
	if d := asserts.SliceContent([]int(nil), nil, nil, 0).DType; d != "int64" && d != "int32" {
		t.Errorf("int is %s", d)
	}
	if of4, of1 := before.ItemSize, asserts.SliceContent([]byte{1}, nil, nil, 0).ItemSize; of4 != 4 || of1 != 0 {
		t.Errorf("elements of at least %d bytes, and of %d", of4, of1)
	}
	if c := asserts.SliceContent(make([]byte, asserts.SnapshotLimit+1), nil, nil, 0); c.Bytes != nil || c.Nbytes != asserts.SnapshotLimit+1 {
		t.Errorf("%d bytes copied of %d", len(c.Bytes), c.Nbytes)
	}
}

// A library has only slices and pointers: a kernel that returns its input, or a slice of it, is
// found.
func TestSliceBacked(t *testing.T) {
	type vector []float64
	observe := func(v *vector) asserts.Observation {
		return asserts.Observation{
			Impl: asserts.PointerID(v), Storage: asserts.SliceID(*v), Traits: asserts.NoVersion,
			ImplUses: asserts.NotCounted, StorageUses: asserts.NotCounted,
		}
	}
	self, fresh := &vector{1, 2, 3}, &vector{1, 2, 3}
	part := vector((*self)[1:2])
	for _, test := range []struct {
		name   string
		result *vector
		want   int
	}{{"itself", self, 1}, {"a slice of it", &part, 1}, {"fresh", fresh, 0}} {
		seen := asserts.Seen{
			Level:  asserts.Identity,
			Before: []asserts.Observation{observe(self)}, After: []asserts.Observation{observe(self)},
			Results: []asserts.Observation{observe(test.result)},
		}
		op := opOf("neg(Tensor self) -> Tensor")
		if v := asserts.Judge(op, &seen, asserts.Aware()).Violations; len(v) != test.want {
			t.Errorf("%s: %v, want %d", test.name, v, test.want)
		}
	}
}

var array = make([]float64, 8) // a stack may move

// A view may have another capacity than its base, and so another array by its ID: it is one by its memory, at each
// level. A copy is none.
func TestViewOfAnotherCapacity(t *testing.T) {
	whole, copied := array, slices.Clone(array)
	see := func(level asserts.Level, data []float64) []asserts.Observation {
		var o asserts.Observation
		asserts.ObserveSlice(&o, level, &matrix{data}, data, int64(len(data)))
		return []asserts.Observation{o}
	}
	op := wholeOp("narrow(Tensor(a) self) -> Tensor(a)")
	for _, tt := range []struct {
		name         string
		self, result []float64
		plain        bool
		want         int
	}{
		{"its front", whole, whole[:2:2], true, 0},
		{"its middle", whole, whole[3:5:6], true, 0},
		{"its last element", whole[:7:7], whole[6:7], true, 0},
		{"more than it", whole[2:3:3], whole[:8:8], true, 0},
		{"what is before it", whole[2:4:4], whole[:2:2], true, 1},
		{"what is behind it", whole[2:4:4], whole[4:6:6], true, 1},
		{"a copy", whole, copied[:2:2], true, 1},
		{"of a library with storages", whole, whole[:2:2], false, 1},
	} {
		for _, level := range []asserts.Level{asserts.Identity, asserts.Content} {
			self := see(level, tt.self)
			seen := asserts.Seen{Level: level, Plain: tt.plain, Before: self, After: self, Results: see(level, tt.result)}
			found := asserts.Judge(op, &seen, asserts.Aware()).Violations
			if len(found) != tt.want || tt.want > 0 && found[0].Code != asserts.ViewStorage {
				t.Errorf("%s, at the level %v: %v, want %d", tt.name, level, found, tt.want)
			}
		}
	}
	for what, set := range map[string]func(*asserts.Observation){
		"an array that is not known": func(o *asserts.Observation) { o.Version = 0 },
		"a tensor with versions":     func(o *asserts.Observation) { o.Traits = 0 },
	} {
		self := see(asserts.Identity, whole)
		set(&self[0])
		seen := asserts.Seen{Level: asserts.Identity, Plain: true, Before: self, After: self, Results: see(asserts.Identity, whole[:2:2])}
		if found := asserts.Judge(op, &seen, asserts.Aware()).Violations; len(found) != 1 {
			t.Errorf("a view of %s: %v", what, found)
		}
	}
}
