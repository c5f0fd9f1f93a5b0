package libtorch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

func call(t testing.TB, level asserts.Level, name string, args ...libtorch.Value) *libtorch.Outcome {
	t.Helper()
	out := new(libtorch.Outcome)
	must.Do(t, lookup(t, name).Call(level, out, args...))
	t.Cleanup(func() { out.Release() })
	return out
}

var (
	none     = libtorch.None()
	integer  = libtorch.Int
	integers = libtorch.Ints
)

func ones(t testing.TB, sizes ...int64) libtorch.Value {
	return tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: sizes, Low: 1, High: 1}).Value()
}

// A result without another holder has exactly one use of each, however it is made. The last of
// these make views inside the kernel, which would keep their bases alive with autograd's view
// tracking.
func TestFreshCounts(t *testing.T) {
	libtorchtest.Need(t)
	x, square := ones(t, 2, 3), ones(t, 3, 3)
	for _, tt := range []struct {
		op   string
		args []libtorch.Value
	}{
		{"aten::add.Tensor", []libtorch.Value{x, x}},
		{"aten::relu", []libtorch.Value{x}},
		{"aten::clone", []libtorch.Value{x}},
		{"aten::mm", []libtorch.Value{square, square}},
		{"aten::cat", []libtorch.Value{libtorch.Tensors(x.Tensor, x.Tensor)}},
		{"aten::unbind_copy.int", []libtorch.Value{x}},
		{"aten::sort", []libtorch.Value{x}},
		{"aten::topk", []libtorch.Value{x, integer(1)}},
		{"aten::_linalg_svd", []libtorch.Value{square}},
		{"aten::native_layer_norm", []libtorch.Value{x, integers(3), none, none, libtorch.Float(1e-5)}},
		{"aten::stack", []libtorch.Value{libtorch.Tensors(x.Tensor, x.Tensor)}},
		{"aten::roll", []libtorch.Value{x, integers(1)}},
	} {
		t.Run(tt.op, func(t *testing.T) {
			if op := lookup(t, tt.op); op.Composite {
				t.Fatalf("%s decomposes: its results promise nothing", op.Name)
			}
			out := call(t, asserts.Identity, tt.op, tt.args...)
			for i, r := range out.Seen.Results {
				if r.Defined() && (r.ImplUses != 1 || r.StorageUses != 1) {
					t.Errorf("result %d has %d uses of its TensorImpl and %d of its StorageImpl, want 1 and 1", i, r.ImplUses, r.StorageUses)
				}
			}
			if len(out.Seen.Results) == 0 {
				t.Error("nothing was seen of the results")
			}
			for i, b := range out.Seen.Before {
				if diff := cmp.Diff(b, out.Seen.After[i]); diff != "" {
					t.Errorf("tensor %d of the arguments changed:\n%s", i, diff)
				}
			}
		})
	}
}

func TestView(t *testing.T) {
	libtorchtest.Need(t)
	x := ones(t, 2, 3)
	out := call(t, asserts.Content, "aten::select.int", x, integer(0), integer(1))
	base, view := out.Seen.Before[0], out.Seen.Results[0]
	if view.Storage != base.Storage || view.Impl == base.Impl || view.ImplUses != 1 {
		t.Errorf("the view is %+v, its base %+v: want one storage and a new TensorImpl", view, base)
	}
	if c := view.Content; c.Offset != 3 || !cmp.Equal(c.Sizes, []int64{3}) || !cmp.Equal(c.Strides, []int64{1}) || c.Nbytes != 24 {
		t.Errorf("the view's contents are %+v", c)
	}
	chunks := call(t, asserts.Identity, "aten::unbind.int", x)
	if n := chunks.Seen.ResultLens[0]; n != 2 || len(chunks.Results[0].Tensors) != 2 {
		t.Fatalf("unbind gave %d tensors, want 2", n)
	}
	for i, view := range chunks.Seen.Results {
		if view.Storage != chunks.Seen.Before[0].Storage {
			t.Errorf("element %d does not share its base's storage", i)
		}
	}
}

func TestInPlace(t *testing.T) {
	libtorchtest.Need(t)
	x := ones(t, 2, 3)
	out := call(t, asserts.Content, "aten::add_.Tensor", x, x)
	before, after, result := out.Seen.Before[0], out.Seen.After[0], out.Seen.Results[0]
	if result.Impl != before.Impl || after.Impl != before.Impl || after.Storage != before.Storage {
		t.Errorf("in place gave %v, the argument went from %v to %v", result.Impl, before.Impl, after.Impl)
	}
	if after.Version != before.Version+1 {
		t.Errorf("the version went from %d to %d, want one up", before.Version, after.Version)
	}
	if after.Content.Digest == before.Content.Digest {
		t.Error("the bytes changed and the digest did not")
	}
	if result.ImplUses != 2 {
		t.Errorf("the result has %d uses, want 2: the argument's handle and the result", result.ImplUses)
	}
	resized := ones(t, 0)
	out = call(t, asserts.Content, "aten::add.out", x, x, libtorch.Default(), resized)
	if after := out.Seen.After[2]; after.Storage != out.Seen.Before[2].Storage || !cmp.Equal(after.Content.Sizes, []int64{2, 3}) {
		t.Errorf("the resized out became %+v", after)
	}
}

func TestSubjects(t *testing.T) {
	libtorchtest.Need(t)
	x, index := ones(t, 2, 3), tensor(t, libtorch.Spec{DType: libtorch.Int64, Sizes: []int64{1}, Low: 0, High: 1}).Value()
	undefined := libtorch.Tensor{}.Value()
	for _, tt := range []struct {
		name         string
		op           string
		args         []libtorch.Value
		lens         []int
		defined      []bool
		resultLens   []int
		resultsExist []bool
	}{
		{"optional given", "aten::linear", []libtorch.Value{x, x, ones(t, 2)}, []int{1, 1, 1}, []bool{true, true, true}, []int{1}, []bool{true}},
		{"optional None", "aten::linear", []libtorch.Value{x, x, none}, []int{1, 1, 1}, []bool{true, true, false}, []int{1}, []bool{true}},
		{"optional left out", "aten::linear", []libtorch.Value{x, x}, []int{1, 1, 1}, []bool{true, true, false}, []int{1}, []bool{true}},
		{"optional undefined", "aten::linear", []libtorch.Value{x, x, undefined}, []int{1, 1, 1}, []bool{true, true, false}, []int{1}, []bool{true}},
		{"list", "aten::cat", []libtorch.Value{libtorch.Tensors(x.Tensor, x.Tensor, x.Tensor)}, []int{3}, []bool{true, true, true}, []int{1}, []bool{true}},
		{"list of optionals", "aten::index.Tensor", []libtorch.Value{x, libtorch.List(none, index)}, []int{1, 2}, []bool{true, false, true}, []int{1}, []bool{true}},
		{"list of optionals as tensors", "aten::index.Tensor", []libtorch.Value{x, libtorch.Tensors(libtorch.Tensor{}, index.Tensor)}, []int{1, 2}, []bool{true, false, true}, []int{1}, []bool{true}},
		{"undefined results", "aten::native_layer_norm_backward",
			[]libtorch.Value{x, x, integers(3), ones(t, 2, 1), ones(t, 2, 1), none, none, libtorch.Bools(true, false, false)},
			[]int{1, 1, 1, 1, 1, 1}, []bool{true, true, true, true, false, false}, []int{1, 1, 1}, []bool{true, false, false}},
		{"list result", "aten::unbind.int", []libtorch.Value{x}, []int{1}, []bool{true}, []int{2}, []bool{true, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := call(t, asserts.Identity, tt.op, tt.args...).Seen
			exist := func(obs []asserts.Observation) (all []bool) {
				for _, o := range obs {
					all = append(all, o.Defined())
				}
				return all
			}
			if diff := cmp.Diff(tt.lens, seen.ArgLens); diff != "" {
				t.Errorf("tensors of each argument:\n%s", diff)
			}
			if diff := cmp.Diff(tt.defined, exist(seen.Before)); diff != "" {
				t.Errorf("arguments:\n%s", diff)
			}
			if diff := cmp.Diff(tt.resultLens, seen.ResultLens); diff != "" {
				t.Errorf("tensors of each return:\n%s", diff)
			}
			if diff := cmp.Diff(tt.resultsExist, exist(seen.Results)); diff != "" {
				t.Errorf("results:\n%s", diff)
			}
		})
	}
}

// The parts of sparse arguments and results come after the subjects.
func TestParts(t *testing.T) {
	libtorchtest.Need(t)
	sparse := tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2, 3}, Form: libtorch.COO, Seed: 1}).Value()
	seen := call(t, asserts.Identity, "aten::_values", sparse).Seen
	if diff := cmp.Diff([]int{1, 2}, seen.ArgLens); diff != "" {
		t.Fatalf("tensors of each argument and its parts:\n%s", diff)
	}
	if seen.Results[0].Storage != seen.Before[2].Storage {
		t.Error("the values taken out do not share the storage of the values inside")
	}
	if p := seen.Before[1]; p.ImplUses != 1 || p.StorageUses != 1 {
		t.Errorf("the indices have %d and %d uses, want 1 and 1: ours must not count", p.ImplUses, p.StorageUses)
	}
	seen = call(t, asserts.Identity, "aten::neg", sparse).Seen
	if diff := cmp.Diff([]int{1, 2}, seen.ResultLens); diff != "" {
		t.Fatalf("tensors of each return and its parts:\n%s", diff)
	}
	channels := tensor(t, libtorch.Spec{DType: libtorch.QInt8, Sizes: []int64{2, 3}, Form: libtorch.QuantizedChannel}).Value()
	seen = call(t, asserts.Identity, "aten::q_per_channel_scales", channels).Seen
	if seen.Results[0].Storage != seen.Before[1].Storage {
		t.Error("the scales taken out are known to share the storage of the scales inside")
	}
}

func TestPartsHaveNames(t *testing.T) {
	libtorchtest.Need(t)
	for form, want := range map[libtorch.Form][]string{
		libtorch.COO:               {"indices", "values"},
		libtorch.CSR:               {"compressed_indices", "plain_indices", "values"},
		libtorch.QuantizedChannel:  {"scales", "zero_points"},
		libtorch.Nested:            {"sizes", "strides"},
		libtorch.FunctionalWrapper: {"value"},
	} {
		spec := libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2, 3}, Form: form}
		if form == libtorch.QuantizedChannel {
			spec.DType = libtorch.QInt8
		}
		x := tensor(t, spec).Value()
		seen := call(t, asserts.Identity, "aten::detach", x).Seen
		if diff := cmp.Diff([][]string{nil, want}, seen.ArgNames); diff != "" {
			t.Errorf("%v, names of the argument's parts:\n%s", form, diff)
		}
	}
	a, b := ones(t, 2), tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2}, Form: libtorch.COO})
	seen := call(t, asserts.Identity, "aten::cat", libtorch.Tensors(b, b)).Seen
	if diff := cmp.Diff([][]string{nil, {"0.indices", "0.values", "1.indices", "1.values"}}, seen.ArgNames); diff != "" {
		t.Errorf("names of the parts of several tensors:\n%s", diff)
	}
	if seen := call(t, asserts.Identity, "aten::relu", a).Seen; seen.ArgNames != nil {
		t.Errorf("a tensor without parts has %v", seen.ArgNames)
	}
}

// A functional wrapper has no bytes of its own; its value shows a write.
func TestFunctionalValue(t *testing.T) {
	libtorchtest.Need(t)
	x := tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2}, Low: 1, High: 2, Form: libtorch.FunctionalWrapper}).Value()
	seen := call(t, asserts.Content, "aten::neg_", x).Seen
	before, after := seen.Before[1], seen.After[1]
	if before.Content.Digest == 0 || before.Content.Digest == after.Content.Digest {
		t.Errorf("the value went from %+v to %+v", before.Content, after.Content)
	}
	if before.ImplUses != asserts.NotCounted || before.StorageUses != asserts.NotCounted {
		t.Errorf("the value has %d and %d uses, which tell nothing", before.ImplUses, before.StorageUses)
	}
}

func TestOffSeesNothing(t *testing.T) {
	libtorchtest.Need(t)
	out := call(t, asserts.Off, "aten::relu", ones(t, 2))
	if diff := cmp.Diff(asserts.Seen{}, out.Seen); diff != "" {
		t.Errorf("seen at Off:\n%s", diff)
	}
	if !out.Results[0].Tensor.Defined() {
		t.Error("there is no result")
	}
}

// A reply larger than its buffer arrives completely.
func TestLongReply(t *testing.T) {
	libtorchtest.Need(t)
	big := tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{100, 100}, Seed: 5})
	parts := make([]libtorch.Tensor, 300)
	for i := range parts {
		parts[i] = big
	}
	seen := call(t, asserts.Content, "aten::cat", libtorch.Tensors(parts...)).Seen
	want := must.Get(big.Bytes())(t)
	last := seen.After[len(seen.After)-1]
	if len(seen.After) != 300 || string(last.Content.Bytes) != string(want) {
		t.Errorf("the last of %d observations has other bytes than its tensor", len(seen.After))
	}
	if c := seen.Results[0].Content; c.Nbytes != 300*40000 || c.Bytes != nil || c.Digest == 0 {
		t.Errorf("a storage over the limit is seen as %d bytes, %d of them copied, digest %x", c.Nbytes, len(c.Bytes), c.Digest)
	}
}

func TestErrors(t *testing.T) {
	libtorchtest.Need(t)
	x := ones(t, 2, 3)
	gone := ones(t, 1)
	gone.Tensor.Release()
	for _, tt := range []struct {
		op      string
		args    []libtorch.Value
		want    string
		refused bool
	}{
		{"aten::cat", []libtorch.Value{libtorch.Tensors(x.Tensor), integer(7)},
			"aten::cat: Dimension out of range (expected to be in range of [-2, 1], but got 7) (c10::IndexError)", false},
		{"aten::mm", []libtorch.Value{x, x}, "aten::mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", false},
		{"aten::relu", []libtorch.Value{integer(1)}, `aten::relu: argument 0 "self": want Tensor, got an int`, true},
		{"aten::relu", nil, `aten::relu: argument 0 "self": it has no default, so a value is needed`, true},
		{"aten::relu", []libtorch.Value{x, x}, "aten::relu: it has 1 arguments, not 2", true},
		{"aten::view", []libtorch.Value{x, libtorch.Floats(1)}, `aten::view: argument 1 "size": want int, got a float`, true},
		{"aten::sum.dim_IntList", []libtorch.Value{x, integers(0), libtorch.String("yes")},
			`aten::sum.dim_IntList: argument 2 "keepdim": want bool, got a string`, true},
	} {
		var out libtorch.Outcome
		err := lookup(t, tt.op).Call(asserts.Content, &out, tt.args...)
		var e *libtorch.Error
		// Newer versions repeat the op.
		if !errors.As(err, &e) || strings.Replace(err.Error(), "mm: mm: ", "mm: ", 1) != tt.want || e.Refused != tt.refused {
			t.Errorf("%s%v gave %v, want %s", tt.op, tt.args, err, tt.want)
		}
	}
	var out libtorch.Outcome
	err := lookup(t, "aten::add.Tensor").Call(asserts.Identity, &out, x, gone)
	var handle *libtorch.HandleError
	if !errors.As(err, &handle) || !strings.Contains(err.Error(), `argument 1 "other"`) || asserts.Enabled && !strings.Contains(handle.Fault.Made, "TestErrors") {
		t.Errorf("a released argument gave %v", err)
	}
	err = lookup(t, "aten::empty.memory_format").Call(asserts.Off, &out, integers(1), none, none, libtorch.Device("nowhere"))
	if err == nil || !strings.Contains(err.Error(), `there is no device "nowhere"`) {
		t.Errorf("a device that does not exist gave %v", err)
	}
}

// Arguments of every schema type reach the kernel.
func TestArgumentTypes(t *testing.T) {
	libtorchtest.Need(t)
	x := ones(t, 2, 2)
	elements := func(want ...float64) func(*testing.T, libtorch.Value) {
		return func(t *testing.T, v libtorch.Value) {
			got := must.Get(v.Tensor.Elements())(t)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("elements:\n%s", diff)
			}
		}
	}
	dtype := func(want string) func(*testing.T, libtorch.Value) {
		return func(t *testing.T, v libtorch.Value) {
			if o, err := v.Tensor.See(asserts.Content); err != nil || o.Content.DType != want {
				t.Errorf("got %+v, %v; want a tensor of %s", o.Content, err, want)
			}
		}
	}
	is := func(want libtorch.Value) func(*testing.T, libtorch.Value) {
		return func(t *testing.T, v libtorch.Value) {
			if v.String() != want.String() || v.Kind != want.Kind {
				t.Errorf("got %v, want %v", v, want)
			}
		}
	}
	generator := must.Get(libtorch.NewGenerator(7))(t)
	defer generator.Release()
	storage := must.Get(libtorch.StorageOf(x.Tensor))(t)
	defer storage.Release()
	options := []libtorch.Value{libtorch.Float64.Value(), integer(libtorch.LayoutStrided), libtorch.Device("cpu"), libtorch.Bool(false)}
	image := ones(t, 1, 1, 1, 2)
	packed := call(t, asserts.Off, "quantized::linear_prepack",
		tensor(t, libtorch.Spec{DType: libtorch.QInt8, Sizes: []int64{2, 2}, Form: libtorch.Quantized}).Value(), none).Results[0]
	record := call(t, asserts.Off, "profiler::_record_function_enter_new", libtorch.String("a"), none).Results[0]
	for _, tt := range []struct {
		typ, op string
		args    []libtorch.Value
		check   func(*testing.T, libtorch.Value)
	}{
		{"Scalar int", "aten::add.Scalar", []libtorch.Value{x, integer(2)}, elements(3, 3, 3, 3)},
		{"Scalar float", "aten::add.Scalar", []libtorch.Value{x, libtorch.Float(0.5)}, elements(1.5, 1.5, 1.5, 1.5)},
		{"Scalar bool", "aten::add.Scalar", []libtorch.Value{x, libtorch.Bool(true)}, elements(2, 2, 2, 2)},
		{"Scalar complex", "aten::add.Scalar", []libtorch.Value{x, libtorch.Complex(1i)}, dtype("complex64")},
		{"Scalar?", "aten::clamp", []libtorch.Value{x, none, libtorch.Float(0.25)}, elements(0.25, 0.25, 0.25, 0.25)},
		{"Scalar[]", "aten::_foreach_add.ScalarList", []libtorch.Value{libtorch.Tensors(x.Tensor), libtorch.List(integer(4))},
			func(t *testing.T, v libtorch.Value) { elements(5, 5, 5, 5)(t, v.Tensors[0].Value()) }},
		{"int", "aten::select.int", []libtorch.Value{x, integer(0), integer(1)}, elements(1, 1)},
		{"int?", "aten::argmax", []libtorch.Value{x, none}, elements(0)},
		{"int[]", "aten::permute", []libtorch.Value{x, integers(1, 0)}, elements(1, 1, 1, 1)},
		{"int[1]?", "aten::sum.dim_IntList", []libtorch.Value{x, none}, elements(4)},
		{"SymInt", "aten::narrow_copy", []libtorch.Value{x, integer(0), integer(0), integer(1)}, elements(1, 1)},
		{"SymInt[]", "aten::view", []libtorch.Value{x, integers(4)}, elements(1, 1, 1, 1)},
		{"SymInt?", "aten::as_strided", []libtorch.Value{x, integers(1), integers(1), integer(3)}, elements(1)},
		{"float", "aten::leaky_relu", []libtorch.Value{x, libtorch.Float(0.1)}, elements(1, 1, 1, 1)},
		{"float from an int", "aten::native_dropout", []libtorch.Value{x, integer(0), libtorch.Bool(true)}, elements(1, 1, 1, 1)},
		{"float?", "aten::nan_to_num", []libtorch.Value{x, libtorch.Float(1)}, elements(1, 1, 1, 1)},
		{"float[]?", "aten::upsample_nearest2d.vec", []libtorch.Value{image, none, libtorch.Floats(1, 2)}, elements(1, 1, 1, 1)},
		{"bool", "aten::sum.dim_IntList", []libtorch.Value{x, integers(0), libtorch.Bool(true)}, elements(2, 2)},
		{"bool[]", "aten::native_layer_norm_backward", []libtorch.Value{x, x, integers(2), ones(t, 2, 1), ones(t, 2, 1), none, none, libtorch.Bools(false, false, false)},
			is(libtorch.Tensor{}.Value())},
		{"str", "aten::einsum", []libtorch.Value{libtorch.String("ij->"), libtorch.Tensors(x.Tensor)}, elements(4)},
		{"str?", "aten::div.Tensor_mode", []libtorch.Value{x, x, libtorch.String("floor")}, elements(1, 1, 1, 1)},
		{"ScalarType, Layout, Device, bool, MemoryFormat", "aten::empty.memory_format",
			append(append([]libtorch.Value{integers(1)}, options...), integer(libtorch.ContiguousFormat)), dtype("float64")},
		{"default in the middle", "aten::empty.memory_format", []libtorch.Value{integers(1), libtorch.Default(), libtorch.Default(), libtorch.Device("cpu")}, dtype("float32")},
		{"Generator?", "aten::bernoulli.p", []libtorch.Value{x, libtorch.Float(1), generator.Value()}, elements(1, 1, 1, 1)},
		{"Generator? None", "aten::bernoulli.p", []libtorch.Value{x, libtorch.Float(1), libtorch.Object{}.Value()}, elements(1, 1, 1, 1)},
		{"Storage", "aten::set_.source_Storage", []libtorch.Value{ones(t, 1), storage.Value()}, elements(1, 1, 1, 1)},
		{"QScheme result", "aten::qscheme", []libtorch.Value{tensor(t, libtorch.Spec{DType: libtorch.QInt8, Sizes: []int64{2}, Form: libtorch.Quantized}).Value()}, is(integer(0))},
		{"custom class", "quantized::linear_unpack", []libtorch.Value{packed}, dtype("qint8")},
		{"another custom class", "profiler::_record_function_exit._RecordFunction", []libtorch.Value{record}, nil},
		{"float result", "aten::q_scale", []libtorch.Value{tensor(t, libtorch.Spec{DType: libtorch.QInt8, Sizes: []int64{2}, Form: libtorch.Quantized}).Value()}, is(libtorch.Float(0.1))},
		{"bool result", "aten::is_nonzero", []libtorch.Value{ones(t)}, is(libtorch.Bool(true))},
		{"int result", "aten::size.int", []libtorch.Value{x, integer(0)}, is(integer(2))},
		{"Scalar result", "aten::_local_scalar_dense", []libtorch.Value{ones(t)}, is(libtorch.Float(1))},
	} {
		t.Run(tt.typ, func(t *testing.T) {
			out := new(libtorch.Outcome)
			err := lookup(t, tt.op).Call(asserts.Identity, out, tt.args...)
			var e *libtorch.Error
			if tt.check == nil && errors.As(err, &e) && !e.Refused {
				return // it reached the kernel, which requires more
			}
			if err != nil {
				t.Fatal(err)
			}
			defer out.Release()
			if tt.check != nil {
				tt.check(t, out.Results[0])
			}
		})
	}
}

func TestAny(t *testing.T) {
	libtorchtest.Need(t)
	op, err := libtorch.Lookup("prepacked::unpack_prepacked_sizes_linear")
	if err != nil {
		t.Skip("this libtorch has no op that takes anything: ", err)
	}
	weight := tensor(t, libtorch.Spec{DType: libtorch.QInt8, Sizes: []int64{2, 2}, Form: libtorch.Quantized})
	packed := call(t, asserts.Off, "quantized::linear_prepack", weight.Value(), none).Results[0]
	var out libtorch.Outcome
	defer out.Release()
	var e *libtorch.Error
	if err := op.Call(asserts.Off, &out, packed); err != nil && (!errors.As(err, &e) || e.Refused) {
		t.Errorf("it does not reach the kernel: %v", err)
	}
}

func TestDimnames(t *testing.T) {
	libtorchtest.Need(t)
	if _, err := libtorch.Lookup("aten::rename"); err != nil {
		t.Skip("this libtorch has no named tensors: ", err)
	}
	named := call(t, asserts.Off, "aten::rename", ones(t, 2, 2), libtorch.Dimnames("N", "C")).Results[0]
	sum := call(t, asserts.Off, "aten::sum.dim_DimnameList", named, libtorch.Dimnames("N")).Results[0]
	got, err := sum.Tensor.Elements()
	if diff := cmp.Diff([]float64{2, 2}, got); diff != "" || err != nil {
		t.Errorf("%v, elements:\n%s", err, diff)
	}
}

// A stream is accepted as an argument, although no CPU kernel needs one.
func TestStream(t *testing.T) {
	libtorchtest.Need(t)
	var out libtorch.Outcome
	err := lookup(t, "aten::record_stream").Call(asserts.Identity, &out, ones(t, 1), libtorch.Stream("cpu", 0))
	var e *libtorch.Error
	if !errors.As(err, &e) || e.Refused || e.Type != "c10::NotImplementedError" {
		t.Errorf("record_stream on the CPU gave %v, want the dispatcher's refusal", err)
	}
}

func TestGeneratorIsDeterministic(t *testing.T) {
	libtorchtest.Need(t)
	draw := func() string {
		g := must.Get(libtorch.NewGenerator(3))(t)
		defer g.Release()
		out := call(t, asserts.Off, "aten::normal_", ones(t, 4), libtorch.Float(0), libtorch.Float(1), g.Value())
		elements := must.Get(out.Results[0].Tensor.Elements())(t)
		return fmt.Sprint(elements)
	}
	if a, b := draw(), draw(); a != b {
		t.Errorf("one seed gave %s and %s", a, b)
	}
}

func TestSeed(t *testing.T) {
	libtorchtest.Need(t)
	draw := func() string {
		must.Do(t, libtorch.Seed(5))
		out := call(t, asserts.Off, "aten::normal_", ones(t, 4))
		elements := must.Get(out.Results[0].Tensor.Elements())(t)
		return fmt.Sprint(elements)
	}
	if a, b := draw(), draw(); a != b {
		t.Errorf("one seed gave %s and %s", a, b)
	}
}

// A tensor with the mark of a subclass is passed and observed as one.
func TestMarks(t *testing.T) {
	libtorchtest.Need(t)
	for _, tt := range []struct {
		form libtorch.Form
		want asserts.Traits
	}{
		{libtorch.Strided, 0},
		{libtorch.Subclass, asserts.DirectSubclass},
		{libtorch.FunctionalWrapper, asserts.FunctionalWrapper},
		{libtorch.Inference, asserts.NoVersion},
	} {
		x := tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2}, Form: tt.form}).Value()
		if got := call(t, asserts.Identity, "aten::relu", x).Seen.Before[0].Traits; got != tt.want {
			t.Errorf("a %s tensor has the traits %b, want %b", tt.form, got, tt.want)
		}
	}
	meta := tensor(t, libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{2}, Meta: true}).Value()
	if got := call(t, asserts.Identity, "aten::neg", meta).Seen.Results[0].Traits; got != asserts.MetaTensor {
		t.Errorf("a result on meta has the traits %b", got)
	}
}
