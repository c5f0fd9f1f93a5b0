package libtorch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

func TestMake(t *testing.T) {
	libtorchtest.Need(t)
	type spec = libtorch.Spec
	count := make([]float64, 12)
	for i := range count {
		count[i] = float64(i)
	}
	for _, tt := range []struct {
		name     string
		spec     spec
		want     asserts.Snapshot // without Digest, Device and Bytes
		elements []float64
	}{
		{"contiguous", spec{DType: libtorch.Float32, Sizes: []int64{2, 3}, Values: count},
			asserts.Snapshot{DType: "float32", Sizes: []int64{2, 3}, Strides: []int64{3, 1}, Nbytes: 24}, []float64{0, 1, 2, 3, 4, 5}},
		{"transposed", spec{DType: libtorch.Int64, Sizes: []int64{3, 2}, Strides: []int64{1, 3}, Values: count},
			asserts.Snapshot{DType: "int64", Sizes: []int64{3, 2}, Strides: []int64{1, 3}, Nbytes: 48}, []float64{0, 3, 1, 4, 2, 5}},
		{"offset", spec{DType: libtorch.Float64, Sizes: []int64{2}, Offset: 3, Values: count},
			asserts.Snapshot{DType: "float64", Sizes: []int64{2}, Strides: []int64{1}, Offset: 3, Nbytes: 40}, []float64{3, 4}},
		{"expanded", spec{DType: libtorch.Int32, Sizes: []int64{2, 2}, Strides: []int64{0, 1}, Values: count},
			asserts.Snapshot{DType: "int32", Sizes: []int64{2, 2}, Strides: []int64{0, 1}, Nbytes: 8}, []float64{0, 1, 0, 1}},
		{"overlapping", spec{DType: libtorch.Uint8, Sizes: []int64{2, 2}, Strides: []int64{1, 1}, Values: count},
			asserts.Snapshot{DType: "uint8", Sizes: []int64{2, 2}, Strides: []int64{1, 1}, Nbytes: 3}, []float64{0, 1, 1, 2}},
		{"empty", spec{DType: libtorch.Float32, Sizes: []int64{2, 0}},
			asserts.Snapshot{DType: "float32", Sizes: []int64{2, 0}, Strides: []int64{1, 1}}, nil},
		{"no dimensions", spec{DType: libtorch.Float16, Sizes: []int64{}, Values: []float64{1.5}},
			asserts.Snapshot{DType: "float16", Sizes: []int64{}, Strides: []int64{}, Nbytes: 2}, []float64{1.5}},
		{"bytes, and more of them than it covers", spec{DType: libtorch.BoolType, Sizes: []int64{2}, Bytes: []byte{1, 0, 1}},
			asserts.Snapshot{DType: "bool", Sizes: []int64{2}, Strides: []int64{1}, Nbytes: 3}, []float64{1, 0}},
		{"bfloat16", spec{DType: libtorch.BFloat16, Sizes: []int64{1}, Values: []float64{-2.5}},
			asserts.Snapshot{DType: "bfloat16", Sizes: []int64{1}, Strides: []int64{1}, Nbytes: 2}, []float64{-2.5}},
		{"complex", spec{DType: libtorch.Complex64, Sizes: []int64{1}, Values: []float64{3}},
			asserts.Snapshot{DType: "complex64", Sizes: []int64{1}, Strides: []int64{1}, Nbytes: 8}, []float64{3}},
		{"fewer values than elements", spec{DType: libtorch.Int8, Sizes: []int64{3}, Values: []float64{-1}},
			asserts.Snapshot{DType: "int8", Sizes: []int64{3}, Strides: []int64{1}, Nbytes: 3}, []float64{-1, 0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := tensor(t, tt.spec)
			o := must.Get(x.See(asserts.Content))(t)
			if o.ImplUses != 1 || o.StorageUses != 1 || o.Version != 0 {
				t.Errorf("a new tensor is seen as %+v", o)
			}
			got := *o.Content
			got.Digest, got.Bytes, got.Device, got.Memory, got.Counter, got.Layout, got.Quantizer = 0, nil, "", 0, 0, "", ""
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("contents:\n%s", diff)
			}
			elements := must.Get(x.Elements())(t)
			if diff := cmp.Diff(tt.elements, elements); diff != "" {
				t.Errorf("elements:\n%s", diff)
			}
		})
	}
}

// Every form is made with every valid dtype, reproducibly.
func TestForms(t *testing.T) {
	libtorchtest.Need(t)
	for form := libtorch.Strided; form <= libtorch.Subclass; form++ {
		dtypes := []libtorch.DType{libtorch.Float32, libtorch.Float64}
		switch form {
		case libtorch.Strided, libtorch.Inference, libtorch.FunctionalWrapper, libtorch.Subclass, libtorch.Zero:
			dtypes = append(dtypes, libtorch.BFloat16, libtorch.Float16, libtorch.Int64, libtorch.Int32, libtorch.BoolType, libtorch.Uint8, libtorch.Complex64)
		case libtorch.COO, libtorch.CSR, libtorch.CSC:
			dtypes = append(dtypes, libtorch.Int64, libtorch.Complex64)
		case libtorch.Conj:
			dtypes = []libtorch.DType{libtorch.Complex64, libtorch.Complex128}
		case libtorch.Quantized, libtorch.QuantizedChannel:
			dtypes = []libtorch.DType{libtorch.QInt8, libtorch.QUInt8, libtorch.QInt32}
		case libtorch.MKLDNN:
			dtypes = dtypes[:1]
		case libtorch.Named:
			if _, err := libtorch.Lookup("aten::rename_"); err != nil { // removed in 2.13
				continue
			}
		}
		for _, dtype := range dtypes {
			t.Run(fmt.Sprintf("%s/%s", form, dtype), func(t *testing.T) {
				spec := libtorch.Spec{DType: dtype, Sizes: []int64{3, 2}, Form: form, Seed: 11}
				a, b := tensor(t, spec), tensor(t, spec)
				diff := cmp.Diff(contents(t, a), contents(t, b))
				if diff != "" {
					t.Errorf("one spec made two tensors:\n%s", diff)
				}
				spec.Seed++
				other := cmp.Equal(contents(t, a), contents(t, tensor(t, spec)))
				if opaque := form == libtorch.MKLDNN || form == libtorch.Zero || form == libtorch.FunctionalWrapper; other && !opaque {
					t.Error("another seed made the same tensor")
				}
			})
		}
	}
}

// Sparse tensors are coalesced or not, and have the sparse dimensions of their form; nested ones
// hold tensors of equal sizes or not.
func TestWhatFormsAre(t *testing.T) {
	libtorchtest.Need(t)
	made := func(form libtorch.Form) libtorch.Value {
		ones := slices.Repeat([]float64{1}, 12)
		return tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2, 3, 2}, Form: form, Values: ones}).Value()
	}
	results := func(op string, form libtorch.Form) libtorch.Value {
		return call(t, asserts.Off, op, made(form)).Results[0]
	}
	for form, want := range map[libtorch.Form][3]int64{ // coalesced, sparse dimensions, specified elements
		libtorch.COO:            {1, 3, 12},
		libtorch.COOUncoalesced: {0, 3, 24},
		libtorch.COOHybrid:      {1, 1, 2},
	} {
		got := [3]int64{
			results("aten::is_coalesced", form).Int, results("aten::sparse_dim", form).Int, results("aten::_nnz", form).Int,
		}
		if got != want {
			t.Errorf("%v is %v, want %v", form, got, want)
		}
	}
	for form, want := range map[libtorch.Form][]float64{
		libtorch.Nested:     {3, 2, 2, 2},
		libtorch.NestedEven: {3, 2, 3, 2},
	} {
		sizes := must.Get(results("aten::_nested_tensor_size", form).Tensor.Elements())(t)
		if diff := cmp.Diff(want, sizes); diff != "" {
			t.Errorf("sizes inside %v:\n%s", form, diff)
		}
	}
}

func contents(t *testing.T, x libtorch.Tensor) []*asserts.Snapshot {
	t.Helper()
	o := must.Get(x.See(asserts.Content))(t)
	parts := must.Get(x.Parts(asserts.Content))(t)
	all := []*asserts.Snapshot{o.Content}
	for _, p := range parts {
		all = append(all, p.Content)
	}
	for _, c := range all {
		c.Memory, c.Counter = 0, 0
	}
	return all
}

func TestMakeRefuses(t *testing.T) {
	libtorchtest.Need(t)
	type spec = libtorch.Spec
	for _, tt := range []struct {
		spec spec
		want string
	}{
		{spec{DType: libtorch.Float32, Sizes: []int64{-1}}, "cannot be negative"},
		{spec{DType: libtorch.Float32, Sizes: []int64{2}, Strides: []int64{-1}}, "cannot be negative"},
		{spec{DType: libtorch.Float32, Sizes: []int64{2}, Strides: []int64{1, 1}}, "2 strides for 1 sizes"},
		{spec{DType: libtorch.Float32, Sizes: []int64{1 << 40, 1 << 40}}, "span more than"},
		{spec{DType: libtorch.Float32, Sizes: []int64{2}, Offset: 1 << 60}, "offset"},
		{spec{DType: 99, Sizes: []int64{2}}, "cannot create tensors of dtype dtype99"},
		{spec{DType: libtorch.QInt8, Sizes: []int64{2}}, "a strided tensor cannot be qint8"},
		{spec{DType: libtorch.Float32, Sizes: []int64{2}, Form: libtorch.Quantized}, "a quantized tensor cannot be float32"},
		{spec{DType: libtorch.Float32, Sizes: []int64{2, 2}, Form: libtorch.COO, Meta: true}, "a coo tensor cannot be on meta"},
		{spec{DType: libtorch.Float32, Form: libtorch.Nested}, "has a first dimension"},
		{spec{DType: libtorch.Float32, Sizes: []int64{2}, Form: 77}, "unknown form form77"},
		{spec{DType: libtorch.Int32, Sizes: []int64{2}, Form: libtorch.MKLDNN}, "make a mkldnn tensor of [2]"},
	} {
		if x, err := libtorch.Make(tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v gave %v, %v; want an error with %q", tt.spec, x, err, tt.want)
		}
	}
}

func TestMetaTwins(t *testing.T) {
	libtorchtest.Need(t)
	base := tensor(t, libtorch.Spec{DType: libtorch.Float64, Sizes: []int64{3, 2}})
	view := call(t, asserts.Off, "aten::select.int", base.Value(), integer(0), integer(1)).Results[0].Tensor
	again := call(t, asserts.Off, "aten::neg_", base.Value()).Results[0].Tensor
	other := tensor(t, libtorch.Spec{DType: libtorch.Int64, Sizes: []int64{2}, Strides: []int64{0}})
	originals := []libtorch.Tensor{base, view, base, libtorch.Tensor{}, again, other}
	twins := must.Get(libtorch.MetaTwins(originals...))(t)
	if twins[0] != twins[2] || twins[0] != twins[4] || twins[3].Defined() {
		t.Errorf("twins of one TensorImpl are %v", twins)
	}
	var storages []asserts.ID
	for i, twin := range twins {
		want, _ := originals[i].See(asserts.Content)
		got := must.Get(twin.See(asserts.Content))(t)
		storages = append(storages, got.Storage)
		if !want.Defined() {
			continue
		}
		want.Content.Device, want.Content.Digest, want.Content.Bytes, want.Content.Memory, want.Content.Counter = "meta", 0, nil, 0, got.Content.Counter
		if diff := cmp.Diff(want.Content, got.Content); diff != "" {
			t.Errorf("twin %d:\n%s", i, diff)
		}
	}
	if storages[0] != storages[1] || storages[0] == storages[5] {
		t.Errorf("the storages of the twins are %v: want the view's to be its base's, and no other", storages)
	}
	if err := libtorch.ReleaseAll(twins...); err != nil {
		t.Error(err)
	}
	sparse := tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2, 2}, Form: libtorch.COO})
	if _, err := libtorch.MetaTwins(sparse); err == nil {
		t.Error("a sparse tensor has a twin")
	}
}

// A tensor is made on the named device, without FindDevice before.
func TestMakeOnDevice(t *testing.T) {
	libtorchtest.Need(t)
	spec := libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2}, Values: []float64{3, 4}}
	for device, want := range map[string]string{
		"cpu": "", "lpu": "PyTorch has no device of that name", "lpu:1": "PyTorch has no device of that name", "cpu:7": "the only device of that type is cpu:0", "cpu:999": "the only device of that type is cpu:0",
	} {
		spec.Device = device
		x, err := libtorch.Make(spec)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", device, err, want)
		}
		if err == nil {
			if seen := must.Get(x.See(asserts.Content))(t); seen.Content.Device != device {
				t.Errorf("it is on %s, want %s", seen.Content.Device, device)
			}
			must.Do(t, x.Release())
		}
	}
}
