package c10

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/opassert/opassert/asserts"
)

var f32 = TensorOptions{DType: Float32}

// uses checks the two use counts of a tensor.
func uses(t *testing.T, what string, x *Tensor, impl, storage int32) {
	t.Helper()
	o := asserts.Observe(x, asserts.Identity)
	if o.ImplUses != impl || o.StorageUses != storage {
		t.Errorf("%s: uses %d of impl and %d of storage, want %d and %d", what, o.ImplUses, o.StorageUses, impl, storage)
	}
}

// panics checks that f panics with an Error that says what.
func panics(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		err, ok := recover().(*Error)
		if !ok || !strings.Contains(err.Msg, what) {
			t.Errorf("got %v, want a panic that says %q", err, what)
		}
	}()
	f()
}

func TestCounts(t *testing.T) {
	x := Empty([]int64{2, 3}, f32)
	uses(t, "fresh", x, 1, 1)

	second := x.Retain()
	uses(t, "retained", x, 2, 1)

	view := x.AsStrided([]int64{3}, []int64{1}, 3)
	uses(t, "base", x, 2, 2)
	uses(t, "view", view, 1, 2)

	storage := x.Storage()
	uses(t, "storage held", view, 1, 3)

	second.Release()
	x.Release()
	uses(t, "base gone", view, 1, 2)
	storage.Release()
	uses(t, "view alone", view, 1, 1)
	impl := view.get().storage
	view.Release()
	if impl.uses.Load() != 0 || impl.data != nil {
		t.Errorf("the storage outlives its tensors")
	}
}

func TestMisuse(t *testing.T) {
	x := Empty(nil, f32)
	keep := x.Retain()
	x.Release()
	panics(t, "released twice", x.Release)
	panics(t, "use of a released tensor", func() { x.Numel() })
	panics(t, "use of an undefined tensor", func() { (*Tensor)(nil).Numel() })
	(*Tensor)(nil).Release()
	uses(t, "the other handle", keep, 1, 1)

	s := keep.Storage()
	s.Release()
	panics(t, "use of a released Storage", s.Release)

	impl := keep.get()
	keep.Release()
	panics(t, "more often than retained", impl.release)
}

func TestOnMeta(t *testing.T) {
	x := Empty([]int64{2, 3}, f32).AsStrided([]int64{3}, []int64{2}, 1)
	m := x.OnMeta()
	if !m.IsMeta() || m.DType() != Float32 || !slices.Equal(m.Sizes(), x.Sizes()) || !slices.Equal(m.Strides(), x.Strides()) || m.Offset() != 1 {
		t.Errorf("%v %v %v from %d", m.Options().Device, m.Sizes(), m.Strides(), m.Offset())
	}
	uses(t, "meta", m, 1, 1)
	uses(t, "its model, and the base of that", x, 1, 2)
}

func TestRebind(t *testing.T) {
	x, y := Empty(nil, f32), Empty(nil, f32)
	other := x.Retain()
	x.Rebind(y)
	if !x.Is(y) || x.Is(other) {
		t.Errorf("the handle did not move")
	}
	uses(t, "old", other, 1, 1)
	uses(t, "new", y, 2, 1)
	x.Rebind(x)
	uses(t, "rebound to itself", y, 2, 1)
}

func TestVersion(t *testing.T) {
	base := Empty([]int64{4}, f32)
	view := base.AsStrided([]int64{2}, []int64{2}, 0)
	view.MarkWritten()
	if base.Version() != 1 {
		t.Errorf("a view does not share its base's version")
	}
	other := Empty([]int64{4}, f32)
	other.SetStorage(base)
	other.MarkWritten()
	if base.Version() != 1 {
		t.Errorf("set_ shares a version")
	}

	inference := Empty(nil, TensorOptions{DType: Float32, Inference: true})
	inference.MarkWritten()
	panics(t, "does not track its version", func() { inference.Version() })
	if got := asserts.Observe(inference.Alias(), asserts.Identity).Traits; got != asserts.NoVersion {
		t.Errorf("a view of an inference tensor has traits %b", got)
	}
}

func TestContiguous(t *testing.T) {
	for _, tt := range []struct {
		sizes, strides []int64
		want           bool
	}{
		{nil, nil, true},
		{[]int64{2, 3}, []int64{3, 1}, true},
		{[]int64{2, 3}, []int64{1, 2}, false},
		{[]int64{1, 3}, []int64{7, 1}, true},
		{[]int64{0, 3}, []int64{1, 9}, true},
		{[]int64{2}, []int64{0}, false},
	} {
		if got := EmptyStrided(tt.sizes, tt.strides, f32).IsContiguous(); got != tt.want {
			t.Errorf("sizes %v strides %v: contiguous %v", tt.sizes, tt.strides, got)
		}
	}
}

func TestMetadata(t *testing.T) {
	x := Empty([]int64{2, 3}, f32)
	if x.Size(-1) != 3 || x.Dim() != 2 || x.Numel() != 6 {
		t.Errorf("sizes %v strides %v", x.Sizes(), x.Strides())
	}
	panics(t, "dimension 2 is outside [-2, 1]", func() { x.Size(2) })
	panics(t, "reach beyond a storage of 24 bytes", func() { x.AsStrided([]int64{7}, []int64{1}, 0) })
	panics(t, "negative stride", func() { x.AsStrided([]int64{2}, []int64{-1}, 3) })
	panics(t, "negative size", func() { Empty([]int64{-1}, f32) })

	before := x.Sizes()
	x.SetSizesAndStrides([]int64{6}, []int64{1}, 0)
	if len(before) != 2 {
		t.Errorf("sizes seen earlier changed")
	}
}

func TestResize(t *testing.T) {
	x := FromFloats([]float64{1, 2}, []int64{2}, f32)
	id := asserts.Observe(x, asserts.Identity).Storage
	x.Resize([]int64{2, 2})
	o := asserts.Observe(x, asserts.Content)
	if o.Storage != id || o.Content.Nbytes != 16 || x.Float(1) != 2 || x.Float(3) != 0 {
		t.Errorf("resized to %+v", o.Content)
	}
	x.Resize([]int64{0})
	if n := asserts.Observe(x, asserts.Content).Content.Nbytes; n != 16 {
		t.Errorf("storage shrank to %d bytes", n)
	}

	meta := Empty(nil, TensorOptions{DType: Float32, Device: Meta})
	meta.Resize([]int64{1000})
	if o := asserts.Observe(meta, asserts.Content); o.Content.Nbytes != 4000 || meta.Bytes() != nil {
		t.Errorf("meta tensor resized to %+v", o.Content)
	}
}

func TestSetStorage(t *testing.T) {
	x, y := Empty([]int64{3}, f32), FromFloats([]float64{1, 2}, []int64{1, 2}, f32)
	x.SetStorage(y)
	if !x.SharesStorage(y) || x.Float(1) != 2 {
		t.Errorf("set_ did not share")
	}
	uses(t, "after set_", x, 1, 2)
	panics(t, "set_ of a float32 tensor to int64 storage", func() { x.SetStorage(Empty(nil, TensorOptions{DType: Int64})) })
}

// A storage at the address of a freed one is another object.
func TestRecycledAddress(t *testing.T) {
	x := Empty([]int64{2}, f32)
	before, address := asserts.Observe(x, asserts.Identity), &x.Bytes()[0]
	again := FromBytes(x.Bytes(), []int64{2}, Float32)
	x.SetStorage(again)
	again.Release()
	if &x.Bytes()[0] != address || asserts.Observe(x, asserts.Identity).Storage == before.Storage {
		t.Errorf("a reused address counts as the same storage")
	}
}

func TestCommon(t *testing.T) {
	a := Empty(nil, TensorOptions{DType: Int64, Kind: ReportingWrapper})
	b := Empty(nil, TensorOptions{DType: Float32, Kind: DirectSubclass})
	if got, want := Common(a, b), (TensorOptions{DType: Float32, Kind: ReportingWrapper}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	panics(t, "tensors on cpu and on meta", func() { Common(a, Empty(nil, TensorOptions{Device: Meta})) })
}

func TestConcurrentUse(t *testing.T) {
	base := Empty([]int64{8}, f32)
	var wg sync.WaitGroup
	for range 8 {
		mine := base.Retain()
		wg.Go(func() {
			for range 200 {
				view := mine.AsStrided([]int64{4}, []int64{2}, 0)
				view.MarkWritten()
				asserts.Observe(view, asserts.Identity)
				view.Retain().Release()
				view.Release()
			}
			mine.Release()
		})
	}
	wg.Wait()
	uses(t, "afterwards", base, 1, 1)
	if base.Version() != 1600 {
		t.Errorf("version %d after 1600 writes", base.Version())
	}
}
