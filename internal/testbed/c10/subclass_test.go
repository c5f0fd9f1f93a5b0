package c10

import (
	"testing"

	"github.com/opassert/opassert/asserts"
)

func TestWrap(t *testing.T) {
	for _, kind := range []TensorKind{WrapperSubclass, ReportingWrapper} {
		inner := FromFloats([]float64{1, 2, 3, 4}, []int64{2, 2}, f32)
		x := Wrap(inner, kind)
		uses(t, "inner", inner, 2, 1)
		uses(t, "wrapper", x, 1, 1)
		if x.ID() == inner.ID() || x.SharesStorage(inner) {
			t.Errorf("%v: the wrapper is its inner tensor", kind)
		}

		view := x.AsStrided([]int64{2}, []int64{2}, 1)
		if !view.Inner().SharesStorage(inner) || view.SharesStorage(x) != (kind == ReportingWrapper) {
			t.Errorf("%v: view shares inner %v, wrapper %v", kind, view.Inner().SharesStorage(inner), view.SharesStorage(x))
		}
		view.SetFloat(1, 9)
		view.MarkWritten()
		if inner.Float(3) != 9 || inner.Version() != 1 || x.Version() != 1 {
			t.Errorf("%v: a write through a view did not arrive", kind)
		}

		view.SetSizesAndStrides([]int64{1}, []int64{1}, 0)
		if view.Inner().Size(0) != 1 {
			t.Errorf("%v: inner sizes %v", kind, view.Inner().Sizes())
		}
		x.Resize([]int64{8})
		if x.Numel() != 8 || inner.Numel() != 8 {
			t.Errorf("%v: resized to %v, inner %v", kind, x.Sizes(), inner.Sizes())
		}

		view.Release()
		x.Release()
		uses(t, "inner alone", inner, 1, 1)
	}
	panics(t, "a plain cannot wrap", func() { Wrap(Empty(nil, f32), Plain) })
	panics(t, "only a plain, strided tensor", func() { Wrap(Empty(nil, TensorOptions{Kind: Functional}), WrapperSubclass) })
}

func TestSetStorageOfWrappers(t *testing.T) {
	o := TensorOptions{DType: Float32, Kind: WrapperSubclass}
	x, y := Empty([]int64{1}, o), Empty([]int64{2}, o)
	x.SetStorage(y)
	if !x.Inner().SharesStorage(y.Inner()) || !x.SharesStorage(y) {
		t.Errorf("set_ between wrappers did not share")
	}
	panics(t, "set_ of a wrapper subclass to a plain", func() { x.SetStorage(Empty(nil, f32)) })
}

func TestSparse(t *testing.T) {
	indices := FromInts([]int64{0, 1, 1, 2}, []int64{2, 2}, TensorOptions{})
	values := FromFloats([]float64{5, 6}, []int64{2}, f32)
	x := NewSparseCOO(indices, values, []int64{2, 3}, true)
	o := asserts.Observe(x, asserts.Content)
	if o.Impl == 0 || o.Storage != 0 || o.StorageUses != 0 || o.ImplUses != 1 {
		t.Errorf("observed %+v", o)
	}
	if parts := o.Content.Parts; len(parts) != 2 || parts[0].Name != "indices" || parts[1].Name != "values" || parts[1].Content.Nbytes != 8 {
		t.Errorf("parts %+v", parts)
	}
	uses(t, "values", values, 1, 2)
	if x.Values().Is(values) || !x.Values().SharesStorage(values) || !x.IsCoalesced() {
		t.Errorf("members are not aliases")
	}

	alias := x.Alias()
	x.MarkWritten()
	if alias.Version() != 1 {
		t.Errorf("an alias does not share the version")
	}
	x.Release()
	uses(t, "values under an alias", values, 1, 2)
	alias.Release()
	uses(t, "values alone", values, 1, 1)

	panics(t, "do not make", func() { NewSparseCOO(indices, values, []int64{2}, true) })
	panics(t, "where a sparse one is needed", func() { values.Values() })
	panics(t, "where a sparse_coo one is needed", func() { values.Indices() })
}

func TestSparseCSR(t *testing.T) {
	crow := FromInts([]int64{0, 1, 2}, []int64{3}, TensorOptions{})
	col := FromInts([]int64{2, 0}, []int64{2}, TensorOptions{})
	values := FromFloats([]float64{5, 6}, []int64{2}, f32)
	x := NewSparseCSR(crow, col, values, []int64{2, 3})
	if !x.CrowIndices().SharesStorage(crow) || !x.Values().SharesStorage(values) {
		t.Errorf("members are not aliases")
	}
	x.Release()
	uses(t, "col alone", col, 1, 1)
	panics(t, "2 row pointers for 2 rows", func() { NewSparseCSR(col, col, values, []int64{2, 3}) })
}
