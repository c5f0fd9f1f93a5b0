//go:build unix

package preserve

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// A handle costs some three finalizers, from setting it to running it, as it keeps the stacks of what made and what
// released it: compare the processor times, as finalizers run on another core.
func BenchmarkHandle(b *testing.B) {
	l, off := newLib(), newRegistry("off", false)
	tensor := &goTensor{token: l.Made(64)}
	var ran atomic.Int64
	for _, bb := range []struct {
		name string
		op   func()
	}{
		{"finalizer", func() { runtime.SetFinalizer(&goTensor{}, func(*goTensor) { ran.Add(1) }) }},
		{"followed", func() { l.Release(l.Made(64)) }},
		{"used", func() { l.Use(tensor.token) }},
		{"off", func() { off.Release(off.Made(64)) }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			ran.Store(0)
			from := processorTime(b)
			for b.Loop() {
				bb.op()
			}
			for ran.Load() > 0 && ran.Load() < int64(b.N)*9/10 {
				runtime.GC()
			}
			b.ReportMetric(float64(processorTime(b)-from)/float64(b.N), "cpu-ns/op")
		})
	}
}

func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u.Utime.Nano() + u.Stime.Nano()
}
