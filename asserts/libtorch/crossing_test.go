package libtorch

import "testing"

// BenchmarkCrossing calls a function of the shim that does nothing.
func BenchmarkCrossing(b *testing.B) {
	if err := start(); err != nil {
		b.Skip(err)
	}
	s := newScratch()
	defer s.free()
	b.ReportAllocs()
	for b.Loop() {
		cross(crossing{function: fnObserve, second: 1}, nil, s.reply)
	}
}
