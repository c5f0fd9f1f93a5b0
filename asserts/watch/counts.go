package watch

import (
	"encoding/binary"
	"os"

	"github.com/opassert/opassert/asserts"
)

// countsOf is one op's part of the file of counts, which all processes map:
// struct Counts of watch.cpp.
type countsOf struct {
	calls, usual, asked, failed, content, sampledOut, tooLarge, unrecorded int64
	traits                                                                 [8]int64
}

const (
	countsSize = 128
	countsOps  = 1 << 14
)

func newCounts(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(countsOps * countsSize)
}

// readCounts returns the counts of the first n ops.
func readCounts(path string, n int) ([]countsOf, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	counts := make([]countsOf, min(n, countsOps))
	for i := range counts {
		var record [countsSize]byte
		if _, err := f.ReadAt(record[:], int64(i)*countsSize); err != nil {
			return nil, err
		}
		word := func(k int) int64 { return int64(binary.NativeEndian.Uint64(record[8*k:])) }
		c := &counts[i]
		c.calls, c.usual, c.asked, c.failed, c.content, c.sampledOut, c.tooLarge, c.unrecorded = word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)
		for k := range c.traits {
			c.traits[k] = word(8 + k)
		}
	}
	return counts, nil
}

// traitOf says what the counters of traits count, in their order: the bits of
// oa_trait.
var traitOf = []asserts.Traits{
	asserts.MetaTensor, asserts.FunctionalWrapper, asserts.DirectSubclass, asserts.WrapperSubclass, asserts.NoVersion, asserts.ReportsViews, asserts.Storageless, asserts.Lazy,
}
