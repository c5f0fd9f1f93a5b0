package repro

import (
	"testing"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
)

// Tensors are written with their whole storage, repeated parts once.
func TestTensorsAsPython(t *testing.T) {
	for recipe, want := range map[string]string{
		"int64[3] = [-1, 2, 9007199254740993]":  "torch.tensor([-1, 2, 9007199254740992], dtype=torch.int64)",
		"int64[2] max":                          "torch.full((2,), 9223372036854775807, dtype=torch.int64)",
		"int64[1] lowest":                       "torch.tensor([-9223372036854775808], dtype=torch.int64)",
		"int8[2] = [-1, 1]":                     "torch.tensor([-1, 1], dtype=torch.int8)",
		"uint8[1] max":                          "torch.tensor([255], dtype=torch.uint8)",
		"uint64[1] max":                         "torch.tensor([9223372036854775807], dtype=torch.uint64)",
		"bool[2] = [1, 0]":                      "torch.tensor([True, False], dtype=torch.bool)",
		"float32[2] = [0.1, 2]":                 "torch.tensor([0.1, 2.0], dtype=torch.float32)",
		"float32[1] max":                        "torch.tensor([3.4028234663852886e+38], dtype=torch.float32)",
		"complex32[0]":                          "torch.empty((0,), dtype=torch.complex32)",
		"float64[2] = [0.1, 1e300]":             "torch.tensor([0.1, 1e+300], dtype=torch.float64)",
		"float16[1] = [0.5]":                    "torch.tensor([0.5], dtype=torch.float16)",
		"float32[4] = [NaN, +Inf, -Inf, 0]":     "torch.tensor([nan, inf, -inf, 0.0], dtype=torch.float32)",
		"complex64[1] = [2]":                    "torch.tensor([complex(2.0, 1.0)], dtype=torch.complex64)",
		"complex32[1] = [2]":                    `torch.frombuffer(bytearray(base64.b64decode("AEAAPA==")), dtype=torch.complex32)`,
		"float32[0]":                            "torch.tensor([], dtype=torch.float32)",
		"float32[] const:2":                     "torch.tensor([2.0], dtype=torch.float32).reshape(())",
		"float32[2, 1] const:2":                 "torch.full((2,), 2.0, dtype=torch.float32).reshape((2, 1))",
		"int32[100] below:2":                    "torch.tensor([0, 1], dtype=torch.int32).repeat(50)",
		"int32[65] below:3":                     "torch.tensor([0, 1, 2], dtype=torch.int32).repeat(22)[:65].clone()",
		"int32[2] transposed = [1, 2]":          "torch.tensor([1, 2], dtype=torch.int32).as_strided((2,), (1,), 0)",
		"int32[2, 2] transposed = [1, 2, 3, 4]": "torch.tensor([1, 3, 2, 4], dtype=torch.int32).as_strided((2, 2), (1, 2), 0)",
		"int32[2] expanded const:5":             "torch.tensor([5], dtype=torch.int32).as_strided((2,), (0,), 0)",
		"float32[1] quantized = [1]":            "torch.quantize_per_tensor(torch.tensor([1.0], dtype=torch.float32), 0.1, 64, torch.quint8)",
		"qint32[1] quantized = [1]":             "torch.quantize_per_tensor(torch.tensor([1.0], dtype=torch.float32), 0.1, 0, torch.qint32)",
		"float32[1] per-channel = [1]":          "torch.quantize_per_channel(torch.tensor([1.0], dtype=torch.float32), torch.full((1,), 0.1, dtype=torch.float64), torch.full((1,), 0, dtype=torch.int64), 0, torch.qint8)",
		"float32[1, 1] named const:1":           `torch.tensor([1.0], dtype=torch.float32).reshape((1, 1)).rename_("A", "B")`,
		"float32[2] zero":                       "torch._efficientzerotensor((2,), dtype=torch.float32)",
		"complex64[1] conj = [2]":               "torch._conj(torch.tensor([complex(2.0, 1.0)], dtype=torch.complex64))",
		"float32[1] inference = [2]":            "torch.inference_mode()(lambda: torch.tensor([2.0], dtype=torch.float32).clone())()",
		"float32[1, 1] coo-uncoalesced = [2]":   "(lambda t: torch.sparse_coo_tensor(torch.cat([t._indices()] * 2, 1), torch.cat([t._values()] * 2), (1, 1)))(torch.tensor([2.0], dtype=torch.float32).reshape((1, 1)).to_sparse())",
	} {
		v, err := sample.ParseValue(recipe, sample.NewSymbols(0))
		if err != nil {
			t.Errorf("%s: %v", recipe, err)
			continue
		}
		if got, err := python.tensor(v.Tensor, 0); err != nil || got != want {
			t.Errorf("%s:\n%s, %v, want\n%s", recipe, got, err, want)
		}
	}
	for form, want := range map[string]int{"nested": 1, "nested-even": 2} {
		v := must.Get(sample.ParseValue("int64[2, 2] "+form, sample.NewSymbols(0)))(t)
		parts := nestedSizes(v.Tensor)
		if len(parts) != 2 || parts[0][0] != 2 || parts[1][0] != int64(want) {
			t.Errorf("%s has parts of %v, want the last of %d", form, parts, want)
		}
	}
}
