package repro

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/internal/tensor"
)

const evaluates = `import base64, json, sys
from math import inf, nan
import torch
def of(text):
    if ".rename_(" in text and not hasattr(torch.Tensor, "rename_"):
        return ""  # no tensor has names from 2.13 on
    try:
        t = eval(text)
        if t.layout is not torch.strided or t.is_quantized or t.is_nested or t._is_zerotensor() or torch._is_functional_tensor(t):
            return ""
        data = torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage())
        return f"{t.dtype} {t.size()} {t.stride()} {t.storage_offset()} {bytes(data.tolist()).hex()}"
    except Exception as e:
        return repr(e)
print(json.dumps([of(text) for text in json.load(sys.stdin)]))
`

// PyTorch makes the tensor of the case from a literal, to the byte.
func TestLiteralsInPyTorch(t *testing.T) {
	var recipes []string
	for _, dtype := range tensor.DTypes() {
		if dtype.Size() == 0 || dtype.Class() == tensor.Scaled {
			continue
		}
		for _, as := range append(slices.Clone(tensor.Arrangements), "const:NaN", "const:-0", "const:-Inf", "special", "max", "lowest", "subnormal", "negative", "wide") {
			recipes = append(recipes, fmt.Sprintf("%v[2, 3, 2, 2] %s", dtype, as))
		}
		for _, sizes := range []string{"[]", "[0, 3]", "[5000]"} {
			recipes = append(recipes, dtype.String()+sizes)
		}
	}
	for _, form := range tensor.Forms[1:] {
		recipes = append(recipes, "float32[2, 2] "+form, "complex64[2, 2] "+form)
	}
	var specs []*sample.TensorSpec
	var texts []string
	for _, recipe := range recipes {
		v, err := sample.ParseValue(recipe, sample.NewSymbols(0))
		if err != nil { // the dtype has no such contents
			continue
		}
		if text, err := python.tensor(v.Tensor, 0); err == nil {
			specs, texts = append(specs, v.Tensor), append(texts, text)
		} else if v.Tensor.Form != tensor.Subclass {
			t.Error(err)
		}
	}
	libtorchtest.EachPython(t, func(t *testing.T, p *installed.Python) {
		cmd := exec.Command(p.Path, "-W", "ignore", "-c", evaluates)
		cmd.Stdin = bytes.NewReader(must.Get(json.Marshal(texts))(t))
		var all []string
		must.Do(t, json.Unmarshal(must.Get(cmd.Output())(t), &all))
		for i, spec := range specs {
			var room []byte
			like := spec.Dense(&room, 0)
			bits := strings.ReplaceAll(hex.EncodeToString(like.Data), "010000000000f87f", "000000000000f87f") // NaN has other bits in Go
			want := fmt.Sprintf("torch.%s torch.Size(%s) %s %d %s", spec.DType, listed(like.Sizes), tuple(like.Strides), like.Offset, bits)
			if got := all[i]; got != "" && got != want {
				t.Errorf("%v: %.300s\ngot  %.300s\nwant %.300s", spec, texts[i], got, want)
			}
		}
	})
}

// listed returns numbers as a list of Python.
func listed(ns []int64) string { return strings.ReplaceAll(fmt.Sprint(ns), " ", ", ") }
