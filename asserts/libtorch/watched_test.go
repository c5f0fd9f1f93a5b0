package libtorch

import (
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// A listed operator is an error or has a name; a record of its call is an error or has no more
// items than words.
func FuzzListing(f *testing.F) {
	f.Add("a::b\x1fa::b(Tensor x) -> Tensor\x1f\x1e", []byte("\x01\x00\x00\x00\x00\x00\x00\x00"), int8(0))
	f.Add("", []byte{}, int8(1))
	f.Fuzz(func(t *testing.T, listed string, record []byte, level int8) {
		op, err := ReadOp(listed)
		if err != nil {
			return
		}
		if op == nil {
			t.Fatalf("ReadOp(%q) returns nothing", listed)
		}
		seen, err := op.ReadSeen(asserts.Level(level), record)
		if err == nil && len(seen.Before) > len(record) {
			t.Fatalf("%d observations in %d bytes", len(seen.Before), len(record))
		}
		if err == nil && slices.Min(append(slices.Concat(seen.ArgLens, seen.ResultLens), 0)) < 0 {
			t.Fatalf("lengths %d and %d", seen.ArgLens, seen.ResultLens)
		}
	})
}
