package sample

import (
	"encoding/binary"
	"math"
)

// Key returns a text that is equal for two cases only if they make the same call.
func (c *Case) Key() string {
	b := make([]byte, 0, 64*len(c.Args))
	for i := range c.Args {
		b = c.Args[i].appendKey(b)
	}
	return string(b)
}

func (v *Value) appendKey(b []byte) []byte {
	b = binary.AppendVarint(append(b, byte(v.Kind)), v.Int)
	b = appendNumbers(appendText(b, v.Text), v.Float, real(v.Complex), imag(v.Complex))
	if t := v.Tensor; t != nil {
		b = t.appendKey(b)
	}
	b = binary.AppendUvarint(b, uint64(len(v.List)))
	for i := range v.List {
		b = v.List[i].appendKey(b)
	}
	return b
}

func (t *TensorSpec) appendKey(b []byte) []byte {
	b = appendText(appendText(b, t.DType), t.Fill.Name)
	b = append(b, byte(t.Arrangement), byte(t.Form), byte(t.Same), byte(t.View))
	b = binary.AppendUvarint(b, uint64(len(t.Sizes)))
	for _, n := range t.Sizes {
		b = binary.AppendVarint(b, n)
	}
	b = binary.AppendUvarint(b, uint64(len(t.Values)))
	return appendNumbers(appendNumbers(b, t.Values...), t.Fill.Value, t.Fill.High)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendNumbers appends floating-point numbers; nearly all are 0.
func appendNumbers(b []byte, all ...float64) []byte {
	for _, f := range all {
		b = binary.AppendUvarint(b, math.Float64bits(f))
	}
	return b
}
