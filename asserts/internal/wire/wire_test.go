package wire

import (
	"testing"

	"github.com/opassert/opassert/asserts"
)

// The levels of the wire begin with those of package asserts.
func TestLevels(t *testing.T) {
	for _, e := range Enums {
		if e.Name != "level" {
			continue
		}
		for i, want := range []asserts.Level{asserts.Off, asserts.Identity, asserts.Content} {
			if int(want) != i || len(e.Members) <= i || e.Members[i].Name[:3] != want.String()[:3] {
				t.Errorf("level %d of the wire is %v, want %v", i, e.Members[i].Name, want)
			}
		}
		return
	}
	t.Error("no levels")
}

// Packed fields fill words one after the other, and none crosses a word.
func TestPackedFieldsFillWords(t *testing.T) {
	bits := 0
	for _, f := range Head {
		switch {
		case f.Kind == Packed && f.Bits > 0 && bits+f.Bits <= 64:
			bits = (bits + f.Bits) % 64
		case f.Kind != Word || bits != 0:
			t.Errorf("%s begins at bit %d and has %d", f.Name, bits, f.Bits)
		}
	}
	if bits != 0 {
		t.Errorf("the last word has %d bits", bits)
	}
	if last := Contents[len(Contents)-1]; last.Kind != Word {
		t.Errorf("%s is last, and of no fixed size", last.Name)
	}
}

// Every trait of an observation has a bit on the wire.
func TestTraitsHaveBits(t *testing.T) {
	if len(Traits.Members) > 16 {
		t.Errorf("%d traits in 16 bits", len(Traits.Members))
	}
	seen := make(map[string]bool)
	for _, m := range Traits.Members {
		if m.Trait != "" && seen[m.Trait] {
			t.Errorf("%s has two bits", m.Trait)
		}
		seen[m.Trait] = true
	}
}
