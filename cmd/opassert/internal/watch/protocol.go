package watch

import "encoding/binary"

// words are the unit of both sides.
func words(w ...int64) []byte {
	var b []byte
	for _, x := range w {
		b = binary.NativeEndian.AppendUint64(b, uint64(x))
	}
	return b
}
