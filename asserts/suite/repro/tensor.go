package repro

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/tensor"
)

// mostWritten is how many elements are written one by one.
const mostWritten = 64

// flat returns an expression of Python for a tensor of one dimension that holds bytes:
// what repeats is written once.
func flat(python *dialect, dtype tensor.DType, data []byte) string {
	size := dtype.Size()
	n := len(data) / size
	period := period(data, size)
	switch {
	case n > 1 && period == size && spelled(dtype):
		return fmt.Sprintf("torch.full((%d,), %s, dtype=torch.%v)", n, python.element(dtype, data[:size]), dtype)
	case n > mostWritten && period <= mostWritten*size:
		return fmt.Sprintf("%s.repeat(%d)[:%d]", flat(python, dtype, data[:period]), (n*size+period-1)/period, n)
	case !spelled(dtype) || n > mostWritten:
		return fmt.Sprintf("torch.frombuffer(bytearray(base64.b64decode(%q)), dtype=torch.%v)", base64.StdEncoding.EncodeToString(data), dtype)
	}
	return fmt.Sprintf("torch.tensor([%s], dtype=torch.%v)", strings.Join(python.elements(dtype, data), ", "), dtype)
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
