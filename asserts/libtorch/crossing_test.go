package libtorch

import "testing"

// BenchmarkCrossing is a call into the shim that does nothing there.
func BenchmarkCrossing(b *testing.B) {
	if err := start(); err != nil {
		b.Skip(err)
	}
	s := newScratch()
	defer s.free()
	b.ReportAllocs()
	for b.Loop() {
		nativeObserve(0, 1, s.reply)
	}
}
