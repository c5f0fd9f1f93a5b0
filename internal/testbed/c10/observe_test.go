package c10

import (
	"math"
	"testing"

	"github.com/opassert/opassert/asserts"
)

func TestObserveUndefined(t *testing.T) {
	released := Empty(nil, f32)
	released.Release()
	for _, x := range []*Tensor{nil, {}, released} {
		if got := asserts.Observe(x, asserts.Content); got != (asserts.Observation{}) {
			t.Errorf("got %+v", got)
		}
	}
}

func TestObserveKinds(t *testing.T) {
	for _, tt := range []struct {
		o    TensorOptions
		want asserts.Traits
	}{
		{TensorOptions{}, 0},
		{TensorOptions{Device: Meta}, asserts.MetaTensor},
		{TensorOptions{Kind: DirectSubclass}, asserts.DirectSubclass},
		{TensorOptions{Kind: Functional}, asserts.FunctionalWrapper},
		{TensorOptions{Kind: WrapperSubclass}, asserts.WrapperSubclass},
		{TensorOptions{Kind: ReportingWrapper}, asserts.WrapperSubclass | asserts.ReportsViews},
		{TensorOptions{Inference: true}, asserts.NoVersion},
		{TensorOptions{Kind: WrapperSubclass, Device: Meta}, asserts.WrapperSubclass | asserts.MetaTensor},
	} {
		x := Empty([]int64{2}, tt.o)
		view := x.AsStrided([]int64{1}, []int64{1}, 0)
		ox, oview := asserts.Observe(x, asserts.Identity), asserts.Observe(view, asserts.Identity)
		if ox.Traits != tt.want || oview.Traits != tt.want {
			t.Errorf("%+v: traits %b, view %b, want %b", tt.o, ox.Traits, oview.Traits, tt.want)
		}
		shared := tt.o.Kind != WrapperSubclass
		if (ox.Storage == oview.Storage) != shared {
			t.Errorf("%v: storage %d, view's %d", tt.o.Kind, ox.Storage, oview.Storage)
		}
		if ox.Content != nil && (tt.o.Kind.wraps() != (len(ox.Content.Parts) == 1) || ox.Content.Digest != 0) {
			t.Errorf("%v: content at the identity level: %+v", tt.o.Kind, ox.Content)
		}
	}
}

func TestObserveContent(t *testing.T) {
	x := FromFloats([]float64{1, 2, 3}, []int64{3}, f32)
	tail := x.AsStrided([]int64{1}, []int64{1}, 2)
	before := asserts.Observe(tail, asserts.Content).Content
	if before.DType != "float32" || before.Device != "cpu" || before.Offset != 2 || before.Nbytes != 12 || len(before.Bytes) != 12 {
		t.Errorf("content %+v", before)
	}
	if again := asserts.Observe(x, asserts.Content).Content; again.Digest != before.Digest {
		t.Errorf("the digest of one storage differs between its tensors")
	}

	for _, tt := range []struct {
		name  string
		write func()
	}{
		{"a byte outside the view", func() { x.Bytes()[0] ^= 1 }},
		{"0 to -0", func() {
			x.SetFloat(2, 0)
			before = asserts.Observe(tail, asserts.Content).Content
			x.SetFloat(2, math.Copysign(0, -1))
		}},
	} {
		tt.write()
		after := asserts.Observe(tail, asserts.Content).Content
		if after.Digest == before.Digest {
			t.Errorf("%s: same digest", tt.name)
		}
		before = after
	}
}

func TestObserveContentWithoutBytes(t *testing.T) {
	meta := asserts.Observe(Empty([]int64{5}, TensorOptions{DType: Float32, Device: Meta}), asserts.Content).Content
	if meta == nil || meta.Nbytes != 20 || meta.Bytes != nil || meta.Digest != 0 {
		t.Errorf("meta: %+v", meta)
	}
	wrapper := asserts.Observe(Empty([]int64{5}, TensorOptions{DType: Float32, Kind: WrapperSubclass}), asserts.Content).Content
	if wrapper == nil || wrapper.Nbytes != 20 || wrapper.Bytes != nil {
		t.Errorf("wrapper: %+v", wrapper)
	}
	big := asserts.Observe(Empty([]int64{asserts.SnapshotLimit + 1}, TensorOptions{DType: Uint8}), asserts.Content).Content
	if big.Bytes != nil || big.Digest == 0 {
		t.Errorf("a storage over the limit was copied")
	}
}

func TestObserveAllocates(t *testing.T) {
	x := Empty([]int64{2}, f32)
	var o asserts.Observation
	if n := testing.AllocsPerRun(100, func() { o = asserts.Observe(x, asserts.Identity) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if o.ImplUses != 1 {
		t.Errorf("observed %+v", o)
	}
}

var observed asserts.Observation

func BenchmarkObserve(b *testing.B) {
	for _, bb := range []struct {
		name  string
		x     *Tensor
		level asserts.Level
	}{
		{"identity/undefined", nil, asserts.Identity},
		{"identity/plain", Empty([]int64{16}, f32), asserts.Identity},
		{"identity/wrapper", Empty([]int64{16}, TensorOptions{DType: Float32, Kind: WrapperSubclass}), asserts.Identity},
		{"contents/64B", Empty([]int64{16}, f32), asserts.Content},
		{"contents/64KiB", Empty([]int64{16 << 10}, f32), asserts.Content},
		{"contents/1MiB", Empty([]int64{256 << 10}, f32), asserts.Content},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				observed = asserts.Observe(bb.x, bb.level)
			}
		})
	}
}
