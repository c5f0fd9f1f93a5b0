package trace

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// A source writes a long log: healthy steps of a stage, and sometimes a hermetic release.
type source struct {
	*stage
	number int
	limit  int // lines to write
	buf    bytes.Buffer
}

func newSource(limit int) *source { return &source{stage: newStage(2, 1, 0), limit: limit} }

func (s *source) Read(p []byte) (int, error) {
	for s.buf.Len() < len(p) && s.number < s.limit {
		if s.healthy(100); s.rng.IntN(500) == 0 {
			_, o := s.pair()
			s.lost(o)
		}
		for _, line := range s.lines {
			s.number++
			fmt.Fprintf(&s.buf, "%d %s\n", s.number, line)
		}
		s.lines = s.lines[:0]
	}
	return s.buf.Read(p) // io.EOF if it is empty
}

const untyped = "torch.storage.UntypedStorage"

// BenchmarkRead reads a log of 10,000,000 lines in one pass. The budget is 1,000,000
// lines a second on one core, and memory for the live objects.
func BenchmarkRead(b *testing.B) {
	const lines = 10_000_000
	piece := must.Get(io.ReadAll(newSource(1_000_000)))(b)
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader("", func(Life) {})
		for range lines / 1_000_000 { // the same lives repeat
			for p := piece; len(p) > 0; {
				n, _ := r.Write(p[:min(len(p), 256<<10)])
				p = p[n:]
			}
		}
		r.Close()
	}
	b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
	b.SetBytes(int64(len(piece)) * 10)
}

// Memory use depends on the live objects, not on the length of the log.
func TestMemory(t *testing.T) {
	heap := func(lines int) uint64 {
		r := NewReader("", func(Life) {})
		must.Get(io.Copy(r, newSource(lines)))(t)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(r)
		return m.HeapAlloc
	}
	heap(10_000)
	short, long := heap(50_000), heap(500_000)
	if long > short+short/2+8<<20 {
		t.Errorf("%d bytes after 50,000 lines, %d after 500,000", short, long)
	}
	t.Logf("%d KiB after 50,000 lines, %d KiB after 500,000", short>>10, long>>10)
}
