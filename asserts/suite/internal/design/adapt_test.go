package design

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// Each rule does what its error asks for.
func TestRules(t *testing.T) {
	tests := []struct {
		name, schema string
		args         []string // as in recipes
		error        string
		want         string
	}{
		{"another backend", "f(Tensor self) -> Tensor", []string{"float32[3, 3]"},
			"Could not run 'aten::f' with arguments from the 'CPU' backend. 'aten::f' is only available for these backends: [SparseCPU, Meta].",
			"aten::f(self=float32[3, 3] coo)"},
		{"dtype of a named argument", "f(Tensor self, Tensor index) -> Tensor", []string{"float32[3]", "float32[3]"},
			"f(): Expected dtype int64 for index", "aten::f(self=float32[3], index=int64[3])"},
		{"rank", "f(Tensor input) -> Tensor", []string{"float32[3, 3]"},
			"Expected 3D input but got something else", "aten::f(input=float32[3, 3, 3])"},
		{"length of a list", "f(Tensor self, int[] output_size) -> Tensor", []string{"float32[3]", "[4]"},
			"It is expected output_size equals to 3, but got size 1", "aten::f(self=float32[3], output_size=[4, 4, 4])"},
		{"dimension out of range", "f(Tensor self, int dim) -> Tensor", []string{"float32[3, 3, 3, 3]", "7"},
			"Dimension out of range (expected to be in range of [-4, 3], but got 7)", "aten::f(self=float32[3, 3, 3, 3], dim=0)"},
		{"one element", "f(Tensor[] self, Tensor on) -> Tensor", []string{"[float32[3, 3]]", "float32[3, 3]"},
			"a Tensor with 9 elements cannot be converted to Scalar", "aten::f(self=[float32[3, 3]], on=float32[1])"},
		{"one of the dtypes listed", "f(Tensor q, Tensor k) -> Tensor", []string{"float32[3]", "float32[3]"},
			"No backend can handle 'f': eager: k: dtype torch.float32 not in {torch.int8}", "aten::f(q=float32[3], k=int8[3])"},
		{"rank of one letter", "f(Tensor q, Tensor k) -> Tensor", []string{"float32[3]", "float32[2, 3]"},
			"No backend can handle 'f': eager: q: shape [3] fails: exactly 2D assert failed: k, q", "aten::f(q=float32[3, 3], k=float32[2, 3])"},
		{"same quantized dtype", "f(Tensor qa, *, Tensor(a!) out) -> Tensor(a!)", []string{"float32[2] quantized", "float32[0]"},
			"Mul operands should have same data type.", "aten::f(qa=float32[2] quantized, out=float32[0] quantized)"},
		{"functional tensors all over", "f(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", []string{"float32[2] functional", "float32[0]"},
			"mutating a non-functional tensor with a functional tensor is not allowed", "aten::f(self=float32[2] functional, out=float32[0] functional)"},
		{"no functional tensors", "f(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", []string{"float32[2] functional", "float32[0] functional"},
			"a functional tensor is not supported", "aten::f(self=float32[2], out=float32[0])"},
		{"same size", "f(Tensor self, Tensor other) -> Tensor", []string{"float32[2]", "float32[3]"},
			"self and other must have the same size", "aten::f(self=float32[2], other=float32[2])"},
		{"sizes with spaces", "f(Tensor self, Tensor other) -> Tensor", []string{"float32[2, 3]", "float32[5, 4]"},
			"sizes [2 3] and [5 4] do not broadcast", "aten::f(self=float32[2, 3], other=float32[2, 3])"},
		{"a clause for each argument", "f(Tensor x, Tensor index) -> Tensor", []string{"float32[3]", "float32[3]"},
			"x must be 2-D, index int64", "aten::f(x=float32[3, 3], index=int64[3])"},
		{"a clause for two arguments", "f(Tensor key, Tensor value, Tensor slots) -> Tensor", []string{"float32[3]", "float32[3]", "float32[3]"},
			"key and value must be 2-D and slots must be int32, got float", "aten::f(key=float32[3, 3], value=float32[3, 3], slots=int32[3])"},
		{"a clause without demands", "f(Tensor key, Tensor value) -> Tensor", []string{"float32[3]", "float32[3]"},
			"key must be 2-D, value too", "aten::f(key=float32[3, 3], value=float32[3, 3])"},
		{"square", "f(Tensor A) -> Tensor", []string{"float32[2, 3]"},
			"A must be batches of square matrices", "aten::f(A=float32[3, 3])"},
		{"condition", "f(Tensor input, Tensor mask) -> Tensor", []string{"float32[3, 3]", "float32[2]"},
			"Expected input_c.ndimension() == 4 to be true, but got false.", "aten::f(input=float32[2, 3, 4, 4], mask=float32[2])"},
		{"condition of two", "f(Tensor input, Tensor mask) -> Tensor", []string{"float32[3, 4]", "int64[2, 2]"},
			"Expected mask.size(0) == input.size(1) to be true, but got false.", "aten::f(input=float32[3, 2], mask=int64[2, 2])"},
		{"condition on a dtype", "f(Tensor rois) -> Tensor", []string{"float32[3, 4]"},
			"Expected rois.scalar_type() == at::kLong to be true, but got false.", "aten::f(rois=int64[3, 4])"},
		{"elements", "f(Tensor boxes) -> Tensor", []string{"float32[3, 3]"},
			"boxes should have 4 elements in dimension 1, got 3", "aten::f(boxes=float32[3, 4])"},
		{"same at", "f(Tensor boxes, Tensor scores) -> Tensor", []string{"float32[3, 4]", "float32[2]"},
			"boxes and scores should have same number of elements in dimension 0, got 3 and 2", "aten::f(boxes=float32[3, 4], scores=float32[3])"},
		{"shape", "f(Tensor input, Tensor rois) -> Tensor", []string{"float32[3, 4]", "float32[2]"},
			"rois must have shape as Tensor[K, 5]", "aten::f(input=float32[3, 4], rois=float32[3, 5])"},
		{"dtype and sizes in letters", "f(Tensor q, Tensor seq_lens) -> Tensor", []string{"float32[2, 3]", "float32[2, 3]"},
			"seq_lens must be int32 [n]", "aten::f(q=float32[2, 3], seq_lens=int32[2])"},
		{"sizes in letters of two", "f(Tensor q, Tensor k_cache, Tensor v_cache) -> Tensor", []string{"float32[2, 3]", "float32[3]", "float32[3]"},
			"k_cache and v_cache must be [blocks, block, size]", "aten::f(q=float32[2, 3], k_cache=float32[2, 3, 4], v_cache=float32[2, 3, 4])"},
		{"an element for each channel", "f(Tensor input, Tensor weight) -> Tensor", []string{"float32[2, 4, 3]", "float32[3, 3]"},
			"Expected weight to be a vector of size equal to the number of channels in input, but got weight of shape [3, 3] and input of shape [2, 4, 3]", "aten::f(input=float32[2, 4, 3], weight=float32[4])"},
		{"last part of two names", "f(Tensor q, Tensor key_cache, Tensor value_cache) -> Tensor", []string{"float32[2, 3]", "float32[3]", "float32[3]"},
			"the caches must be [blocks, size]", "aten::f(q=float32[2, 3], key_cache=float32[2, 3], value_cache=float32[2, 3])"},
		{"a range is no shape", "f(Tensor self, float p) -> Tensor", []string{"float32[2]", "3.0"},
			"self must be in [low, high]", "aten::f(self=float32[0], p=3)"},
		{"first part of a name", "f(Tensor self, Tensor cu_seqlens_q, Tensor cu_seqlens_k) -> Tensor", []string{"float32[2]", "float32[3]", "float32[3]"},
			"cu_seqlens must be int32", "aten::f(self=float32[2], cu_seqlens_q=int32[3], cu_seqlens_k=int32[3])"},
		{"no dimensions", "f(Tensor a, Tensor b) -> Tensor", []string{"float32[]", "float32[3]"},
			"Dimension specified as 1 but tensor has no dimensions", "aten::f(a=float32[3, 3], b=float32[3])"},
		{"length of a tensor", "f(Tensor targets) -> Tensor", []string{"float32[3]"},
			"targets must be 2", "aten::f(targets=float32[0])"},
		{"a condition of an abort", "f(Tensor self) -> Tensor", []string{"float32[3]"},
			"F executorch:op.cpp:3] In function f(), assert failed (self.dim() == 2): bad", "aten::f(self=float32[3, 3])"},
		{"a condition on a function's answer", "f(Tensor self) -> Tensor", []string{"int64[3]"},
			"In function f(), assert failed (torch::executor::isFloatingType(self.scalar_type())): self.scalar_type() 3 is not", "aten::f(self=float32[3])"},
		{"a condition with its message", "f(Tensor self, Tensor point, ScalarType dtype) -> Tensor", []string{"float32[3]", "float32[2]", "dtype:int8"},
			"assert failed (point.scalar_type() == ScalarType::Long): Expected scale; assert failed (self.scalar_type() == dtype): no", "aten::f(self=float32[3], point=int64[2], dtype=float32)"},
		{"a positive number", "f(Tensor self, int heads) -> Tensor", []string{"float32[3]", "-1"}, "heads must be positive, got -1", "aten::f(self=float32[3], heads=1)"},
		{"a number below one", "f(Tensor self, int heads) -> Tensor", []string{"float32[3]", "9"}, "heads should be less than 4", "aten::f(self=float32[3], heads=3)"},
		{"a number that is large", "f(Tensor self, int heads) -> Tensor", []string{"float32[3]", "1"}, "heads has to be at least 4", "aten::f(self=float32[3], heads=4)"},
		{"a key that is a dtype", "f(Tensor self, Tensor rows) -> Tensor", []string{"bool[3]", "int64[3]"}, "KeyError: torch.bool At: x.py(3): f", "aten::f(self=float32[3], rows=int64[3])"},
		{"a conversion", "f(Tensor self, Tensor rows) -> Tensor", []string{"float64[3]", "float32[3]"}, "Cannot convert Torch type torch.float32 to Warp type <class 'warp.types.int32'>", "aten::f(self=float64[3], rows=int32[3])"},
		{"an inner shape", "f(Tensor self) -> Tensor", []string{"float32[3, 11]"}, "Could not convert, ensure that source inner shape is (3,)", "aten::f(self=float32[3, 3])"},
		{"a name that is cut", "f(Tensor input) -> Tensor", []string{"float32[3]"}, "Check failed (tensor_is_rank(in, 2)): ", "aten::f(input=float32[3, 3])"},
		{"contiguous", "f(Tensor self, Tensor rows) -> Tensor", []string{"float32[3]", "int64[3] sliced"}, "rows must be contiguous", "aten::f(self=float32[3], rows=int64[3])"},
		{"a condition on numbers in brackets", "f(Tensor a, int a_quant_min, int a_quant_max) -> Tensor", []string{"float32[3]", "6", "1"},
			"[op_add.cpp:106] In function quantized_add_out(), assert failed (a_quant_min >= 0 && a_quant_max <= 255 && a_quant_min <= a_quant_max): invalid quant_min: 6 or quant_max: 1 for input tensor a. Min should be <= max and both should be in bounds [0,255]", "aten::f(a=float32[3], a_quant_min=6, a_quant_max=6)"},
		{"a condition on a rank", "f(Tensor self, Tensor weight) -> Tensor", []string{"float32[3]", "float32[3]"},
			"Check failed (tensor_is_rank(weight, 2)): ", "aten::f(self=float32[3], weight=float32[3, 3])"},
		{"a condition on a dimension that an argument numbers", "f(Tensor self, Tensor zero_point, int axis) -> Tensor", []string{"float32[3, 5]", "int64[2]", "1"},
			"assert failed (zero_point.numel() == 5 && self.size(axis) == 5): zero_point", "aten::f(self=float32[3, 5], zero_point=int64[5], axis=1)"},
		{"a condition on a remainder", "f(Tensor self, int heads) -> Tensor", []string{"float32[2, 4]", "2"},
			"AssertionError: no\nassert failed: self.shape[-1] % (3 * heads) == 0", "aten::f(self=float32[2, 6], heads=2)"},
		{"a condition on numbers", "f(Tensor self, int k, float p) -> Tensor", []string{"float32[2, 4]", "-2", "3.0"},
			"assert failed: k > 0 and p >= 0 and p < 1", "aten::f(self=float32[2, 4], k=1, p=0.5)"},
		{"a condition on one of some dtypes", "f(Tensor self) -> Tensor", []string{"float32[2]"},
			"assert failed: self.dtype in (torch.int32, torch.int32)", "aten::f(self=int32[2])"},
		{"a condition on two shapes", "f(Tensor self, Tensor other) -> Tensor", []string{"float32[2]", "float32[2]"},
			"assert failed: self.ndim == 2 and other.dtype == torch.int64", "aten::f(self=float32[2, 3], other=int64[2])"},
		{"dtypes of which one holds", "f(Tensor self, Tensor other) -> Tensor", []string{"float32[2]", "float32[2]"},
			"assert failed (other.scalar_type() == ScalarType::Int || other.scalar_type() == ScalarType::Int): no", "aten::f(self=float32[2], other=int32[2])"},
		{"terms that are variables", "f(Tensor a, Tensor b) -> Tensor", []string{"float32[2, 3]", "float32[3]"},
			"assert failed (a_numel__ == b_numel__): no", "aten::f(a=float32[2, 3], b=float32[2, 3])"},
		{"a number that the error shows", "f(Tensor self, Tensor scales) -> Tensor", []string{"float32[2, 3]", "float32[9]"},
			"assert failed (scale.numel() == self.size(axis)): scale.numel() 9 != self.size(axis) 3", "aten::f(self=float32[2, 3], scales=float32[3])"},
		{"a dtype by its number", "f(Tensor self, ScalarType dtype) -> Tensor", []string{"int64[2]", "dtype:int64"},
			"Unhandled dtype 4 for self", "aten::f(self=float32[2], dtype=float32)"},
		{"tensors that do not match", "f(Tensor a, Tensor b) -> Tensor", []string{"float32[2]", "int64[2]"},
			"Tensors do not match: numel=(2, 2), dtype=(6, 4)", "aten::f(a=float32[2], b=float32[2])"},
		{"too few dimensions", "f(Tensor a, Tensor b) -> Tensor", []string{"float32[2, 3, 4]", "float32[2]"},
			"Dimension out of range (expected to be in range of [-1, 0], but got 1)", "aten::f(a=float32[2, 3, 4], b=float32[2, 3])"},
		{"an object of a class", "f(Any data) -> Tensor", []string{"none"}, "`data` must be one of 'Labels' or 'Labels' in `save`, not NoneType",
			"aten::f(data=aten.Labels())"},
		{"too many dimensions", "f(Tensor a, Tensor rows) -> Tensor", []string{"float32[2, 3]", "int64[2, 3]"},
			"TensorAccessor expected 1 dims but tensor has 2", "aten::f(a=float32[2], rows=int64[2, 3])"},
		{"the same dtype", "f(Tensor points, Tensor box) -> Tensor", []string{"float64[2]", "int64[2]"},
			"expected `points` and `box` to have the same dtype, got Double and Long", "aten::f(points=float64[2], box=float64[2])"},
		{"the same dtype of two of three", "f(Tensor points, Tensor box, Tensor periodic) -> Tensor", []string{"float64[2]", "int64[2]", "bool[3]"},
			"expected `points` and `box` to have the same dtype, got Double and Long", "aten::f(points=float64[2], box=float64[2], periodic=bool[3])"},
		{"the same dtype as others", "f(Tensor points, Tensor box) -> Tensor", []string{"float64[2]", "int64[2]"},
			"points must have the same dtype", "aten::f(points=float64[2], box=float64[2])"},
		{"another letter", "f(Tensor self, str other, str kinds) -> Tensor", []string{"float32[2]", "'a'", "'a'"},
			"unexpected character in `kinds`: a", `aten::f(self=float32[2], other="a", kinds="d")`},
		{"a letter of no string", "f(Tensor kinds) -> Tensor", []string{"float32[2]"}, "unexpected character in `kinds`: a", "aten::f(kinds=float32[0])"},
		{"a column for each name", "f(Tensor self, Tensor row, str[] names) -> Tensor", []string{"float32[2, 3]", "float32[3]", "['x', 'y']"},
			"the names must have an entry for each column of the array", `aten::f(self=float32[2, 2], row=float32[3], names=["x", "y"])`},
		{"a column for one name", "f(Tensor self, str names) -> Tensor", []string{"float32[2, 3]", "'x'"},
			"the names must have an entry for each column of the array", `aten::f(self=float32[2, 1], names="x")`},
		{"zeros", "f(Tensor cell, Tensor other) -> Tensor", []string{"float32[2] = [1, 2]", "float32[2]"},
			"the vector of cell must be zero", "aten::f(cell=float32[2] const:0, other=float32[2])"},
		{"a string of any type", "f(Tensor self, Any names) -> Tensor", []string{"float32[2]", "3"},
			"names must be a string, a list of strings or a tuple", `aten::f(self=float32[2], names="names")`},
		{"a file", "f(int n, str path) -> ()", []string{"1", "'sum'"},
			"open file failed because of errno 2 on fopen: No such file or directory, file path: sum", `aten::f(n=1, path="/dev/null")`},
		{"a file that is there", "f(str path) -> ()", []string{"'/dev/null'"}, "failed to open a file", `aten::f(path="none")`},
		{"numbers and sizes below one", "f(Tensor weight, int pad_h, int pad_w, int stride) -> ()", []string{"float32[2, 0]", "-1", "0", "2"},
			"weight_h: 0 other: 0 pad_h: -1 pad_w: -1 stride: 0", "aten::f(weight=float32[2, 1], pad_h=1, pad_w=0, stride=2)"},
		{"sizes that arguments say", "f(Tensor grad, int channels, int height) -> Tensor", []string{"float32[2]", "5", "-1"},
			"grad should have shape [2, channels, height]", "aten::f(grad=float32[2, 5, 0], channels=5, height=-1)"},
		{"sizes with a cross", "f(Tensor points) -> Tensor", []string{"float32[2]"},
			"`points` must be n x 3 tensor, but the shape is [2]", "aten::f(points=float32[2, 3])"},
		{"a size below zero", "f(Tensor a, int n) -> Tensor", []string{"float32[2]", "-2"}, "zeros: Dimension size must be non-negative.", "aten::f(a=float32[2], n=1)"},
		{"a multiple of another number", "f(Tensor a, int nlon_out) -> Tensor", []string{"float32[2, 4]", "3"},
			"Wi (4) must be an integer multiple of Wo (3)", "aten::f(a=float32[2, 6], nlon_out=3)"},
		{"one for each row", "f(Tensor logits, Tensor target) -> Tensor", []string{"float32[3, 4, 5]", "int64[2]"},
			"target must have one entry for each row of logits", "aten::f(logits=float32[3, 4, 5], target=int64[3])"},
		{"one for each column", "f(Tensor x, Tensor scale) -> Tensor", []string{"float32[3, 4, 5]", "float32[2]"},
			"scale must have a value per column in x", "aten::f(x=float32[3, 4, 5], scale=float32[5])"},
		{"one for each row of a vector", "f(Tensor x, Tensor scale) -> Tensor", []string{"float32[3]", "float32[2]"},
			"scale must have one value for each row of x", "aten::f(x=float32[3], scale=float32[3])"},
		{"one for each channel of a vector", "f(Tensor x, Tensor scale) -> Tensor", []string{"float32[3]", "float32[2]"},
			"scale must have one value for each channel of x", "aten::f(x=float32[3], scale=float32[0])"},
		{"one for each row of a number", "f(Tensor x, Tensor scale) -> Tensor", []string{"float32[]", "float32[2]"},
			"scale must have one value for each row of x", "aten::f(x=float32[], scale=float32[0])"},
		{"one for each row, of no argument", "f(Tensor x) -> Tensor", []string{"float32[3, 4]"},
			"scale must have one value for each row of x", "aten::f(x=int32[3, 4])"},
		{"a dtype that is found, and an argument", "f(Tensor x, Tensor at) -> Tensor", []string{"int64[3]", "float32[2]"},
			"at: expected scalar type Half but found Long", "aten::f(x=int64[3], at=float16[2])"},
		{"a dtype that none has", "f(Tensor x, Tensor at) -> Tensor", []string{"int64[3]", "int64[2]"},
			"expected scalar type Float but found Half", "aten::f(x=float32[3], at=float32[2])"},
		{"a dtype without a name", "f(Tensor x, Tensor at) -> Tensor", []string{"uint8[3]", "int64[2]"},
			"expected scalar type Float but found undefined", "aten::f(x=float32[3], at=float32[2])"},
		{"described with its dimensions", "f(Tensor key) -> Tensor", []string{"float32[5, 6, 7]"},
			"key must be a 2-D [tokens, size]", "aten::f(key=float32[5, 3])"},
		{"two of one letter", "f(Tensor q, Tensor k, Tensor mask) -> Tensor", []string{"float32[5, 6]", "float32[7]", "float32[2]"},
			"q and k must be [heads, seq, dim]", "aten::f(q=float32[5, 3, 4], k=float32[5, 3, 4], mask=float32[2])"},
		{"a letter that is a size", "f(Tensor mask, Tensor n) -> Tensor", []string{"float32[5, 6]", "float32[7]"},
			"mask must be [n]", "aten::f(mask=float32[5], n=float32[7])"},
		{"the shape of another", "f(Tensor ids, Tensor weights) -> Tensor", []string{"int32[2, 3]", "float32[3]"},
			"weights must have the shape of ids", "aten::f(ids=int32[2, 3], weights=float32[2, 3])"},
		{"plain tensors", "f(Tensor self) -> Tensor", []string{"float32[3] zero"},
			"ZeroTensors are immutable.", "aten::f(self=float32[3])"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op := must.Get(schema.ParseOp(tt.schema))(t)
			c := &sample.Case{Op: "aten::f"}
			for i, text := range tt.args {
				v := must.Get(sample.ParseValue(text, sample.NewSymbols(0)))(t)
				c.Names, c.Args = append(c.Names, op.Func.Args[i].Name), append(c.Args, v)
			}
			a := NewAdapter(engine.Operator{Schema: op}, sample.NewRandom(4, "f", 0), Themes[0])
			if got := a.Adapt(c, tt.error).String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A letter has the same size in each error, that of a tensor.
func TestLetters(t *testing.T) {
	op := must.Get(schema.ParseOp("f(Tensor query, Tensor caches, Tensor lens) -> Tensor"))(t)
	a := NewAdapter(engine.Operator{Schema: op}, sample.NewRandom(0, "f", 0), Themes[0])
	for _, tt := range []struct{ query, error, want string }{
		{"float32[6, 7]", "query must be [n, size]", "aten::f(query=float32[6, 7], caches=float32[], lens=float32[])"},
		{"float32[2, 3]", "caches must be [blocks, 2, size]", "aten::f(query=float32[2, 3], caches=float32[2, 2, 7], lens=float32[])"},
		{"float32[2, 3]", "lens must be int64 [n]", "aten::f(query=float32[2, 3], caches=float32[], lens=int64[6])"},
		{"float32[]", "lens must be [m]", "aten::f(query=float32[], caches=float32[], lens=float32[5])"},
		{"float32[]", "query must be [one, m]", "aten::f(query=float32[2, 5], caches=float32[], lens=float32[])"},
	} {
		c := &sample.Case{Op: "aten::f", Names: []string{"query", "caches", "lens"}}
		for _, text := range []string{tt.query, "float32[]", "float32[]"} {
			v := must.Get(sample.ParseValue(text, sample.NewSymbols(0)))(t)
			c.Args = append(c.Args, v)
		}
		next, changed := a.Revise(c, tt.error)
		if got := next.String(); changed != (got != c.String()) || got != tt.want {
			t.Errorf("%s: %v %s, want %s", tt.error, changed, got, tt.want)
		}
	}
	if _, changed := a.Revise(&sample.Case{Names: []string{"mode"}, Args: []sample.Value{sample.Int(1)}}, "mode must be [x]"); changed {
		t.Error("an argument without tensors is changed")
	}
}

// The length of a sequence has one size, whatever word an error uses for it; another word has its
// own.
func TestLengths(t *testing.T) {
	op := must.Get(schema.ParseOp("f(Tensor q, Tensor mask) -> Tensor"))(t)
	c := &sample.Case{Op: "aten::f", Names: []string{"q", "mask"}}
	for _, text := range []string{"float32[5]", "float32[2]"} {
		c.Args = append(c.Args, must.Get(sample.ParseValue(text, sample.NewSymbols(0)))(t))
	}
	a := NewAdapter(engine.Operator{Schema: op}, sample.NewRandom(4, "f", 0), Themes[0])
	for _, text := range []string{"q must be [heads, seq, dim]", "mask must be [q_len, kv_heads]"} {
		c = a.Adapt(c, text)
	}
	if got, want := c.String(), "aten::f(q=float32[5, 3, 4], mask=float32[3, 5])"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Of the tensors with the dtype that an error has found, one gets the other dtype, or all do.
func TestFoundDType(t *testing.T) {
	op := must.Get(schema.ParseOp("f(Tensor x, Tensor y, Tensor z) -> Tensor"))(t)
	c := &sample.Case{Op: "aten::f", Names: []string{"x", "y", "z"}}
	for _, text := range []string{"float32[]", "float32[]", "bool[]"} {
		c.Args = append(c.Args, must.Get(sample.ParseValue(text, sample.NewSymbols(0)))(t))
	}
	got := make(map[string]bool)
	for seed := range 50 {
		next, _ := NewAdapter(engine.Operator{Schema: op}, sample.NewRandom(uint64(seed), "f", 0), Themes[0]).Revise(c, "expected scalar type Long but found Float")
		got[next.String()] = true
	}
	want := map[string]bool{
		"aten::f(x=int64[], y=float32[], z=bool[])": true, "aten::f(x=float32[], y=int64[], z=bool[])": true, "aten::f(x=int64[], y=int64[], z=bool[])": true,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// An error about tensors may come from a call without any: every rule can handle that.
func TestRulesWithoutTensors(t *testing.T) {
	op := must.Get(schema.ParseOp("f(Tensor[] tensors) -> Tensor"))(t)
	for _, text := range []string{
		"expected a sparse tensor", "expected a quantized tensor", "expected a mkldnn tensor", "expected a nested tensor",
		"ZeroTensors are immutable.", "tensors must have the same size", "A must be batches of square matrices",
		"Expected 3D input but got something else", "Expected dtype int64 for tensors",
		"Could not run 'aten::f' with arguments from the 'CPU' backend. 'aten::f' is only available for these backends: [SparseCPU, Meta].",
	} {
		for seed := range uint64(40) {
			c := &sample.Case{Op: "aten::f", Names: []string{"tensors"}, Args: []sample.Value{{Kind: sample.ListValue}}}
			a := NewAdapter(engine.Operator{Schema: op}, sample.NewRandom(seed, "f", 0), Themes[0])
			if got := a.Adapt(c, text); len(got.Args) != 1 {
				t.Errorf("%s: got %s", text, got)
			}
		}
	}
}

func TestLost(t *testing.T) {
	for text, want := range map[string]bool{
		"Could not run 'aten::f' with arguments from the 'CPU' backend. 'aten::f' is only available for these backends: [CUDA, Meta].": true,
		"Could not run 'aten::f' with arguments from the 'CPU' backend. 'aten::f' is only available for these backends: [SparseCPU].":  false,
		"ATen not compiled with NNPACK support": true,
		"expected a vector":                     false,
	} {
		if Lost(text) != want {
			t.Errorf("lost(%q) is %v", text, !want)
		}
	}
}

// A recipe prints back to its text.
func TestValuesPrintBack(t *testing.T) {
	for _, text := range []string{"float32[2, 3]", "int64[4] below:3", "float32[3] sliced", "float32[2, 2] csr", "[1, 2]", "0.5", "true", "bool[]", "aten::ones([2, 2], qint8[3] quantized)"} {
		v := must.Get(sample.ParseValue(text, sample.NewSymbols(0)))(t)
		if v.String() != text {
			t.Errorf("%q prints as %q", text, v)
		}
	}
	for _, text := range []string{"float33[2]", "[1", "float32[2] upside-down", "'a", "1 2", "float32[0.5]"} {
		if v, err := sample.ParseValue(text, sample.NewSymbols(0)); err == nil {
			t.Errorf("%q reads as %v", text, v)
		}
	}
}

// Whatever the error, a case remains valid for its schema.
func FuzzAdapt(f *testing.F) {
	op := must.Get(schema.ParseOp("f(Tensor self, Tensor?[] indices, int[2] kernel_size, Scalar alpha, *, Tensor(a!) out) -> Tensor(a!)"))(f)
	f.Add("Expected 3D input", uint64(1))
	f.Add("size of tensor a (3) must match the size of tensor b (2)", uint64(2))
	f.Add(strings.Repeat("[1, 2] ", 9), uint64(3))
	f.Add("Expected self.dim(  >)9223372036854775807 to be true, but got false", uint64(112))
	f.Add("Dimension out of range but got 9227000000000000000", uint64(100))
	for i, most := range []string{"9223372036854775807", "-9223372036854775808", "99999999999999999999"} {
		for k, text := range []string{
			"Dimension specified as %s but tensor has no dimensions", "Dimension out of range (expected to be in range of [-1, 0], but got %s)",
			"expected %s elements in dimension 1", "expected 3 elements in dimension %s", "same size in dimension %s", "self should have shape [n, %s]",
			"Expected self.size(%s) == 2 to be true, but got false", "Expected self.dim() > %s to be true, but got false", "kernel_size must be %s", "Expected %sD input",
		} {
			f.Add(strings.Replace(text, "%s", most, 1), uint64(10*i+k))
		}
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		g := NewGenerator(op, &Recipes{})
		rng := sample.NewRandom(seed, "f", 0)
		c := g.Generate(rng, int(seed%60))
		if seed%3 == 0 {
			for _, spec := range c.Tensors() {
				spec.Sizes = nil
				spec.Legal()
			}
		}
		a := NewAdapter(engine.Operator{Schema: op}, rng, Themes[0])
		for range 5 {
			c = a.Adapt(c, text)
		}
		if len(c.Args) != len(op.Func.Args) {
			t.Fatalf("%d arguments", len(c.Args))
		}
		for _, spec := range c.Tensors() {
			d := spec.Dense(new([]byte), 0)
			if _, ok := tensor.ParseDType(spec.DType); !ok || len(d.Strides) != len(spec.Sizes) || tensor.Numel(spec.Sizes) < 0 {
				t.Fatalf("%v cannot be made", spec)
			}
		}
	})
}

// An object gets the arguments of its constructor as the engine describes them.
func TestAdaptConstructor(t *testing.T) {
	op := must.Get(schema.ParseDispatcher("ns::f(__torch__.torch.classes.ns.Q[] q) -> Tensor"))(t)
	a := NewAdapter(engine.Operator{Schema: op}, sample.NewRandom(0, "f", 0), Themes[0])
	c := NewGenerator(op, new(Recipes)).Generate(sample.NewRandom(0, "f", 0), 0)
	if got, want := c.Args[0].Recipe(), "[ns.Q(), ns.Q()]"; got != want {
		t.Errorf("made %s, want %s", got, want)
	}
	next := a.Adapt(c, `argument 0 "q": the constructor of __torch__.torch.classes.ns.Q takes (Tensor a, (int, str) b, Dict(str, int) c=...): got 0 arguments`)
	inner := a.Adapt(next, `argument 0 "q": the constructor of __torch__.torch.classes.ns.P takes (__torch__.torch.classes.ns.Q _1): of argument 1: the constructor of __torch__.torch.classes.ns.Q takes (int n): got 0 arguments`)
	for _, v := range inner.Args[0].List {
		if len(v.List) != 1 || v.List[0].Kind != sample.IntValue {
			t.Errorf("an inner one is adapted to %s", inner.Args[0].Recipe())
		}
	}
	for _, v := range next.Args[0].List {
		if len(v.List) != 3 || v.List[0].Kind != sample.TensorValue || v.List[1].Kind != sample.TupleValue || v.List[2].Kind != sample.DictValue {
			t.Errorf("adapted to %s", next.Args[0].Recipe())
		}
	}
}

// Errors name arguments of constructors like those of the op.
func TestAdaptWhatObjectsAreMadeOf(t *testing.T) {
	op := must.Get(schema.ParseDispatcher("ns::f(__torch__.torch.classes.ns.Q[] _0, Tensor values) -> Tensor"))(t)
	const takes = `argument 0 "_0": the constructor of __torch__.torch.classes.ns.Q takes (Tensor points, Tensor values, str kind): `
	own, inner := 0, 0
	for seed := range uint64(8) {
		a := NewAdapter(engine.Operator{Schema: op}, sample.NewRandom(seed, "f", 0), Themes[0])
		c := NewGenerator(op, new(Recipes)).Generate(sample.NewRandom(seed, "f", 0), 0)
		c = a.Adapt(a.Adapt(c, takes+"got 0 arguments"), takes+"of argument 1: want Tensor, got a list")
		c = a.Adapt(c, "`points` must be a 4 dimensional tensor")
		c = a.Adapt(c, "`kind` must be one of 'low' or 'low'")
		for _, q := range c.Args[0].List {
			if len(q.List) != 3 || len(q.List[0].Tensor.Sizes) != 4 {
				t.Fatalf("adapted to %s", c)
			}
		}
		if got := c.Args[0].List[0].List[2].Text; got != "low" {
			t.Errorf("the kind is %q in %s", got, c)
		}
		c = a.Adapt(c, "`values` must be a 5-D tensor")
		of := func(v sample.Value) int { return len(v.Tensor.Sizes) / 5 }
		if of(c.Args[1])+of(c.Args[0].List[0].List[1]) != 1 || of(c.Args[0].List[0].List[1]) != of(c.Args[0].List[1].List[1]) {
			t.Errorf("the op's own or those of objects get 5 dimensions, not %s", c)
		}
		own += of(c.Args[1])
		inner += of(c.Args[0].List[0].List[1])
	}
	if own == 0 || inner == 0 {
		t.Errorf("of eight, the op's own values were changed %d times, those of objects %d times", own, inner)
	}
}

// The input of an op is sometimes made by its inverse, whose arguments errors name, too.
func TestAdaptEncoded(t *testing.T) {
	decode, encode := must.Get(schema.ParseOp("decode(Tensor data, int mode) -> Tensor"))(t), must.Get(schema.ParseOp("encode(Tensor image) -> Tensor"))(t)
	decode.Namespace, encode.Namespace = "my", "my"
	made := 0
	for seed := range uint64(16) {
		a := NewAdapter(engine.Operator{Schema: decode, Inverse: encode}, sample.NewRandom(seed, "f", 0), Themes[0])
		c := &sample.Case{Op: "my::decode", Names: []string{"data", "mode"}, Args: []sample.Value{sample.Tensor("float32", 2), sample.Int(1)}}
		if c = a.Adapt(c, "no such format"); c.Args[0].Kind == sample.CallValue {
			made++
			if got := a.Adapt(c, "image must be a 4-D tensor").Args[0].Recipe(); got != "my::encode(float32[2, 3, 4, 4])" {
				t.Errorf("adapted to %s", got)
			}
		}
	}
	if made == 0 || made == 16 {
		t.Errorf("%d of 16 are encoded", made)
	}
	first := NewAdapter(engine.Operator{Schema: encode}, sample.NewRandom(0, "f", 0), Themes[0])
	for range 16 {
		c := &sample.Case{Op: "my::encode", Names: []string{"image"}, Args: []sample.Value{sample.Tensor("float32", 2)}}
		if c = first.Adapt(c, "no such format"); c.Args[0].Kind == sample.CallValue {
			t.Errorf("%s has no op that it undoes", c)
		}
	}
}

// Choices in an error are recognized in every form.
func TestNamedWords(t *testing.T) {
	for text, want := range map[string][]string{
		"mode must be one of 'bilinear' or 'nearest', got x":             {"bilinear", "nearest"},
		`expected "a", "b" or "c"`:                                       {"a", "b", "c"},
		"kind should be rowwise or blockwise":                            {"rowwise", "blockwise"},
		"unknown layout opassert, valid: rowwise, colwise, tile32":       {"rowwise", "colwise", "tile32"},
		"encode: got opassert, choose from {raw, rle, delta}":            {"raw", "rle", "delta"},
		"supported for the modes: nearest | bilinear (got opassert)":     {"nearest", "bilinear"},
		"fmt has to be in (e4m3, e5m2, fnuz)":                            {"e4m3", "e5m2", "fnuz"},
		"Unknown algorithm. The possible values are: auto / qr-iter":     {"auto", "qr-iter"},
		"Invalid kind: opassert. Allowed kinds are [Alpha, Beta_2].":     {"Alpha", "Beta_2"},
		"op must be copy, blend, or xor; got opassert":                   {"copy", "blend", "xor"},
		"activation opassert not recognised (known: swish mish hardtan)": {"swish", "mish", "hardtan"},
	} {
		got := namedWords(text)
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: read %q, want %s among them", text, got, w)
			}
		}
		if len(got) > len(want)+2 {
			t.Errorf("%s: read %q, want %q", text, got, want)
		}
	}
}

// If no constructor makes an object, an op may, as the engine tells.
func TestMadeByOp(t *testing.T) {
	op := must.Get(schema.ParseDispatcher("my::f(__torch__.torch.classes.my.Table t) -> ()"))(t)
	c := &sample.Case{Op: "my::f", Names: []string{"t"}, Args: []sample.Value{{Kind: sample.NewValue, Text: "__torch__.torch.classes.my.Table"}}}
	for _, tt := range []struct {
		error, want string
		ok          bool
	}{
		{`argument 0 "t": class __torch__.torch.classes.my.Table has no constructor; my::table.of(bool sparse) -> __torch__.torch.classes.my.Table returns one`, "my::f(t=my::table.of(false))", true},
		{`argument 0 "t": class __torch__.torch.classes.my.Other has no constructor; my::other() -> __torch__.torch.classes.my.Other returns one`, "my::f(t=my.Table())", false},
		{`argument 0 "t": class __torch__.torch.classes.my.Table has no constructor; my::table(% returns one`, "my::f(t=my.Table())", false},
	} {
		next, ok := NewAdapter(engine.Operator{Schema: op}, sample.NewRandom(0, "f", 0), Themes[0]).Revise(c, tt.error)
		if next.String() != tt.want || ok != tt.ok {
			t.Errorf("%s: %s, %v; want %s, %v", tt.error, next, ok, tt.want, tt.ok)
		}
	}
}

func TestBeside(t *testing.T) {
	op := must.Get(schema.ParseOp("f(str act) -> Tensor"))(t)
	c := &sample.Case{Op: "aten::f", Names: []string{"act"}, Args: []sample.Value{sample.Text("none")}}
	stored := slices.Concat([]string{"far-before"}, slices.Repeat([]string{"with spaces in it"}, 7), []string{"geglu", "unknown activation"}, slices.Repeat([]string{"with spaces in it"}, 8), []string{"far-behind"})
	for _, tt := range []struct{ error, want string }{{"unknown activation (f at x.cpp:3)", "geglu"}, {"unknown", ""}} {
		var want []string
		if tt.want != "" {
			want = []string{tt.want}
		}
		if got := beside(stored, tt.error); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", tt.error, got, want)
		}
	}
	near := []string{"geglu", "unknown activation", "swiglu"}
	if got := beside(near, "unknown activation"); !slices.Equal(got, []string{"geglu", "swiglu"}) {
		t.Errorf("at the ends: %q", got)
	}
	got := NewAdapter(engine.Operator{Schema: op, Texts: stored}, sample.NewRandom(0, "f", 0), Themes[0]).Adapt(c, "unknown activation")
	if got.String() != `aten::f(act="geglu")` {
		t.Errorf("next is %s", got)
	}
}

func TestStoredWords(t *testing.T) {
	stored := []string{"alpha", "kind has to be one of 'left' or 'right'", "other has to be 'up' or 'down'", "two words", "beta-2"}
	want := []string{"left", "right", "alpha", "beta-2"}
	if got := storedWords(stored, "kind"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := storedWords(slices.Repeat(stored, mostStored), "kind"); len(got) != mostStored {
		t.Errorf("%d words, want %d", len(got), mostStored)
	}
}

// TestCached looks each text up once, and drops what it holds when that is full.
func TestCached(t *testing.T) {
	looked := 0
	length := cached(func(text string) int {
		looked++
		return len(text)
	})
	for range 2 {
		if n := length("x"); n != 1 || looked != 1 {
			t.Errorf("%d, looked up %d times", n, looked)
		}
	}
	for n := range mostCached {
		length(strconv.Itoa(n))
	}
	if length("x"); looked != mostCached+2 {
		t.Errorf("looked up %d times", looked)
	}
}
