package repro

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// forms are what Python makes of a dense tensor, whose expression is {}, to have one
// of another form.
//
// Source: asserts/libtorch, make.go, of which this is the Python.
var forms = map[engine.Form]string{
	engine.Strided:    "{}",
	engine.COO:        "{}.to_sparse()",
	engine.COOHybrid:  "{}.to_sparse(1)",
	engine.CSR:        "{}.to_sparse_csr()",
	engine.CSC:        "{}.to_sparse_csc()",
	engine.BSR:        "{}.to_sparse_bsr((1, 1))",
	engine.BSC:        "{}.to_sparse_bsc((1, 1))",
	engine.Mkldnn:     "{}.to_mkldnn()",
	engine.Conjugate:  "torch._conj({})",
	engine.Negative:   "torch._neg_view({})",
	engine.Grad:       "{}.requires_grad_()",
	engine.Functional: "torch._to_functional_tensor({})",
}

// tensorOf returns an expression that makes a tensor.
func tensorOf(t *sample.TensorSpec, turn int) (string, error) {
	switch t.Form {
	case engine.Named:
		names := make([]string, len(t.Sizes))
		for i := range names {
			names[i] = strconv.Quote(string(rune('A' + i)))
		}
		return dense(t, turn) + ".rename_(" + strings.Join(names, ", ") + ")", nil
	case engine.Zero:
		return fmt.Sprintf("torch._efficientzerotensor(%s, dtype=torch.%s)", tuple(t.Sizes), t.DType), nil
	case engine.Quantized, engine.PerChannel:
		return quantized(t, turn), nil
	case engine.Nested, engine.NestedEven:
		return nested(t, turn), nil
	case engine.COOUncoalesced:
		once := dense(t, turn) + ".to_sparse()"
		return fmt.Sprintf("(lambda t: torch.sparse_coo_tensor(torch.cat([t._indices()] * 2, 1), torch.cat([t._values()] * 2), %s))(%s)", tuple(t.Sizes), once), nil
	case engine.Inference:
		return "torch.inference_mode()(lambda: " + dense(t, turn) + ".clone())()", nil
	}
	form, ok := forms[t.Form]
	if !ok {
		return "", fmt.Errorf("a %v tensor has no literal", t.Form)
	}
	return strings.ReplaceAll(form, "{}", dense(t, turn)), nil
}

// A quantizer is how a tensor is quantized, with the scale 0.1.
type quantizer struct {
	dtype string
	zero  int
}

// quantizedAs returns the tensor that is quantized, and how.
func quantizedAs(t *sample.TensorSpec) (sample.TensorSpec, quantizer) {
	like, q := *t, quantizer{dtype: t.DType}
	like.DType = "float32"
	if q.dtype == "float32" {
		q.dtype = map[engine.Form]string{engine.Quantized: "quint8", engine.PerChannel: "qint8"}[t.Form]
	}
	if q.dtype == "quint8" {
		q.zero = 64
	}
	return like, q
}

func quantized(t *sample.TensorSpec, turn int) string {
	like, q := quantizedAs(t)
	if t.Form == engine.Quantized {
		return fmt.Sprintf("torch.quantize_per_tensor(%s, 0.1, %d, torch.%s)", dense(&like, turn), q.zero, q.dtype)
	}
	channels := t.Sizes[0]
	return fmt.Sprintf("torch.quantize_per_channel(%s, torch.full((%d,), 0.1, dtype=torch.float64), torch.full((%d,), %d), 0, torch.%s)",
		dense(&like, turn), channels, channels, q.zero, q.dtype)
}

func nested(t *sample.TensorSpec, turn int) string {
	var parts []string
	for _, sizes := range nestedSizes(t) {
		parts = append(parts, dense(&sample.TensorSpec{DType: t.DType, Sizes: sizes}, turn))
	}
	return "torch._nested_tensor_from_tensor_list([" + strings.Join(parts, ", ") + "])"
}

// nestedSizes returns those of the tensors in a nested one: as many as the first
// dimension is long, the last of them shorter unless all are even.
func nestedSizes(t *sample.TensorSpec) [][]int64 {
	all := make([][]int64, t.Sizes[0])
	for i := range all {
		all[i] = slices.Clone(t.Sizes[1:])
	}
	if last := len(all) - 1; t.Form == engine.Nested && last >= 0 && len(all[last]) > 0 && all[last][0] > 1 {
		all[last][0]--
	}
	return all
}

// dense returns an expression for a strided tensor, with all that its storage holds.
func dense(t *sample.TensorSpec, turn int) string {
	var room []byte
	d := t.Dense(&room, turn)
	dtype := sample.Element(t.DType)
	storage := elements(dtype, d.Data)
	switch whole := int64(len(d.Data)) == sample.Size(t.Sizes)*int64(dtype.Size()) && t.Arrangement == tensor.Contiguous; {
	case whole && len(t.Sizes) == 1:
		return storage
	case whole:
		return fmt.Sprintf("%s.reshape(%s)", storage, tuple(t.Sizes))
	}
	return fmt.Sprintf("%s.as_strided(%s, %s, %d)", storage, tuple(d.Sizes), tuple(d.Strides), d.Offset)
}

// mostWritten is how many elements are written one by one.
const mostWritten = 64

// elements returns an expression for a tensor of one dimension that holds bytes: what
// repeats is written once.
func elements(dtype tensor.DType, data []byte) string {
	size := dtype.Size()
	n := len(data) / size
	period := period(data, size)
	switch {
	case n > 1 && period == size && spelled(dtype):
		return fmt.Sprintf("torch.full((%d,), %s, dtype=torch.%v)", n, element(dtype, data[:size]), dtype)
	case n > mostWritten && period <= mostWritten*size:
		return fmt.Sprintf("%s.repeat(%d)[:%d]", elements(dtype, data[:period]), (n*size+period-1)/period, n)
	case !spelled(dtype) || n > mostWritten:
		return fmt.Sprintf("torch.frombuffer(bytearray(base64.b64decode(%q)), dtype=torch.%v)", base64.StdEncoding.EncodeToString(data), dtype)
	}
	words := make([]string, n)
	for i := range words {
		words[i] = element(dtype, data[i*size:(i+1)*size])
	}
	return fmt.Sprintf("torch.tensor([%s], dtype=torch.%v)", strings.Join(words, ", "), dtype)
}

// period returns after how many bytes elements repeat.
func period(data []byte, size int) int {
	for p := size; p <= min(mostWritten*size, len(data)/2); p += size {
		if string(data[p:]) == string(data[:len(data)-p]) {
			return p
		}
	}
	return len(data)
}

// spelled reports whether elements of a dtype are written as numbers.
func spelled(dtype tensor.DType) bool {
	switch dtype.Class() {
	case tensor.Integral, tensor.Boolean:
		return true
	case tensor.Floating:
		return dtype.Size() >= 2
	case tensor.Complex:
		return dtype != tensor.Complex32
	}
	return false
}

// element returns an element as Python writes it.
func element(dtype tensor.DType, b []byte) string {
	switch dtype.Class() {
	case tensor.Boolean:
		return boolean(b[0] != 0)
	case tensor.Integral:
		return integer(dtype, b)
	case tensor.Complex:
		half := map[tensor.DType]tensor.DType{tensor.Complex64: tensor.Float32, tensor.Complex128: tensor.Float64}[dtype]
		return fmt.Sprintf("complex(%s, %s)", element(half, b[:len(b)/2]), element(half, b[len(b)/2:]))
	}
	if dtype == tensor.Float32 {
		return float(dtype.Get(b), 32)
	}
	return float(dtype.Get(b), 64)
}

// integer reads all digits, of which a float64 holds 53 bits.
func integer(dtype tensor.DType, b []byte) string {
	word := make([]byte, 8)
	_, lowest := bounds(dtype)
	if lowest < 0 && b[len(b)-1]&0x80 != 0 {
		for i := range word {
			word[i] = 0xff
		}
	}
	copy(word, b)
	n := binary.LittleEndian.Uint64(word)
	if lowest < 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(n, 10)
}

func bounds(dtype tensor.DType) (largest, lowest float64) {
	largest, lowest, _ = dtype.Limits()
	return largest, lowest
}

// float returns the shortest number that reads as this one, in so many bits.
func float(v float64, bits int) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	text := strconv.FormatFloat(v, 'g', -1, bits)
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		text += ".0"
	}
	return text
}

func boolean(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// tuple returns numbers as a tuple of Python.
func tuple(ns []int64) string {
	words := make([]string, len(ns))
	for i, n := range ns {
		words[i] = strconv.FormatInt(n, 10)
	}
	if len(ns) == 1 {
		return "(" + words[0] + ",)"
	}
	return "(" + strings.Join(words, ", ") + ")"
}
