package asserts_test

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// float32s has so many elements in a storage of 16 bytes.
func float32s(n int64, mods ...func(*asserts.Snapshot)) mod {
	return func(o *asserts.Observation) {
		o.Content = &asserts.Snapshot{DType: "float32", Device: "cpu", Sizes: []int64{n}, Strides: []int64{1}, Nbytes: 16}
		for _, m := range mods {
			m(o.Content)
		}
	}
}

// A return that exceeds its storage is reported, unless it is an argument that did so before the
// call.
func TestWithinStorage(t *testing.T) {
	const (
		fresh   = "f(Tensor self) -> Tensor"
		inPlace = "f_(Tensor(a!) self) -> Tensor(a!)"
		unknown = "the result's bytes within the storage were not observed"
		beyond  = "result reaches from byte 0 to byte 20 of a storage of 16 bytes"
	)
	at := func(offset int64) func(*asserts.Snapshot) {
		return func(c *asserts.Snapshot) { c.Offset = offset }
	}
	bytes := func(n int64) func(*asserts.Snapshot) {
		return func(c *asserts.Snapshot) { c.Nbytes = n }
	}
	self := see(1, 2, float32s(4))
	for _, tt := range []struct {
		name, op      string
		before, after asserts.Observation // zero: self, and as before
		result        asserts.Observation
		saw, reason   string
		judged        int
	}{
		{name: "the whole storage", result: see(3, 4, float32s(4)), judged: 1},
		{name: "too long", result: see(3, 4, float32s(5)), saw: beyond, judged: 1},
		{name: "too far", result: see(3, 4, float32s(4, at(1))), saw: "result reaches from byte 4 to byte 20 of a storage of 16 bytes", judged: 1},
		{name: "before its storage", result: see(3, 4, float32s(2, at(-1))), saw: "result reaches from byte -4 to byte 4 of a storage of 16 bytes", judged: 1},
		{name: "before and behind", result: see(3, 4, float32s(9, at(-2))), saw: "result reaches from byte -8 to byte 28 of a storage of 16 bytes", judged: 1},
		{name: "undefined", op: "f(Tensor self) -> Tensor?", result: undefined},
		{name: "not a view at all", op: "f(Tensor(a) self) -> Tensor(a)", result: see(3, 4, float32s(5))},
		{name: "a view", op: "f(Tensor(a) self) -> Tensor(a)", result: see(3, 2, float32s(5)), saw: beyond, judged: 1},
		{name: "on meta", result: see(3, 4, float32s(5), traits(asserts.MetaTensor)), reason: "meta tensor: it has no memory"},
		{name: "contents not observed", result: see(3, 4), reason: "contents not observed"},
		{name: "dtype of no size", result: see(3, 4, float32s(5, func(c *asserts.Snapshot) { c.DType = "qint" })), reason: unknown},
		{name: "kept in a wider type", result: see(3, 4, float32s(3, func(c *asserts.Snapshot) { c.ItemSize = 8 })), saw: "result reaches from byte 0 to byte 24 of a storage of 16 bytes", judged: 1},
		{name: "kept in a narrower type", result: see(3, 4, float32s(4, func(c *asserts.Snapshot) { c.DType, c.ItemSize = "int64", 4 })), judged: 1},
		{name: "too long for a narrower type", result: see(3, 4, float32s(5, func(c *asserts.Snapshot) { c.DType, c.ItemSize = "int64", 4 })), saw: beyond, judged: 1},
		{name: "complex, kept by parts", result: see(3, 4, float32s(3, func(c *asserts.Snapshot) { c.DType, c.ItemSize = "complex64", 4 })), saw: "result reaches from byte 0 to byte 24 of a storage of 16 bytes", judged: 1},
		{name: "complex, kept whole", result: see(3, 4, float32s(2, func(c *asserts.Snapshot) { c.DType, c.ItemSize = "complex64", 8 })), judged: 1},
		{name: "complex, kept by halves of parts", result: see(3, 4, float32s(4, func(c *asserts.Snapshot) { c.DType, c.ItemSize = "complex64", 2 })), judged: 1},
		{name: "packed", result: see(3, 4, float32s(500, func(c *asserts.Snapshot) { c.DType, c.ItemSize = "bool", asserts.Packed })), reason: unknown},
		{name: "came so", op: inPlace, before: see(1, 2, float32s(5)), result: see(1, 2, float32s(5)), judged: 1},
		{name: "came otherwise", op: inPlace, result: see(1, 2, float32s(5)), saw: beyond, judged: 1},
		{name: "came with a longer storage", op: inPlace, before: see(1, 2, float32s(5, bytes(20))), result: see(1, 2, float32s(5)), saw: beyond, judged: 1},
		{name: "came so, but not seen", op: inPlace, before: see(1, 2), result: see(1, 2, float32s(5)), saw: beyond, judged: 1},
		{name: "came as another tensor", op: inPlace, before: see(7, 2, float32s(5)), after: see(1, 2, float32s(5)), result: see(1, 2, float32s(5)), saw: beyond, judged: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.op == "" {
				tt.op = fresh
			}
			if !tt.before.Defined() {
				tt.before = self
			}
			if !tt.after.Defined() {
				tt.after = tt.before
			}
			verdict := asserts.Judge(wholeOp(tt.op), &asserts.Seen{Level: asserts.Content, Before: list{tt.before}, After: list{tt.after}, Results: list{tt.result}}, asserts.Aware())
			var saw, reasons []string
			for _, v := range verdict.Violations {
				if v.Code == asserts.WithinStorage {
					saw = append(saw, v.Saw)
				}
			}
			for _, s := range verdict.Skips {
				if s.Code == asserts.WithinStorage {
					reasons = append(reasons, s.Reason)
				}
			}
			if got := strings.Join(saw, "\n"); got != tt.saw {
				t.Errorf("saw %q, want %q", got, tt.saw)
			}
			if got := strings.Join(reasons, "\n"); got != tt.reason {
				t.Errorf("skipped %q, want %q", got, tt.reason)
			}
			if n := verdict.Judged[asserts.WithinStorage]; n != tt.judged {
				t.Errorf("judged %d, want %d", n, tt.judged)
			}
		})
	}
}
