package watch

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/internal/preload"
)

// countsOf is one op's part of the file of counts, which all processes map:
// struct Counts of watch.cpp. What follows the counts is struct Lost of channel.h.
type countsOf struct {
	calls, usual, asked, failed, unrecorded, faked         int64
	content, sampledOut, tooLarge, subclass, aboveAutograd int64 // of usual and asked, where contents are wanted
	traits, contentTraits                                  [16]int64
}

const (
	countsWords = 11 + 2*16
	countsSize  = 8 * countsWords
	countsOps   = 1 << 14
	lostMost    = 255 // struct Lost of channel.h
	lostSize    = 8 + lostMost*16
)

func newCounts() (*os.File, error) {
	return preload.NewMemory("opassert-counts", countsOps*countsSize+lostSize)
}

// readCounts returns the counts of the first n ops.
func readCounts(f io.ReaderAt, n int) ([]countsOf, error) {
	counts := make([]countsOf, min(n, countsOps))
	for i := range counts {
		var record [countsSize]byte
		if _, err := f.ReadAt(record[:], int64(i)*countsSize); err != nil {
			return nil, err
		}
		word := func(k int) int64 { return int64(binary.NativeEndian.Uint64(record[8*k:])) }
		c := &counts[i]
		c.calls, c.usual, c.asked, c.failed, c.unrecorded, c.faked = word(0), word(1), word(2), word(3), word(4), word(5)
		c.content, c.sampledOut, c.tooLarge, c.subclass, c.aboveAutograd = word(6), word(7), word(8), word(9), word(10)
		for k := range c.traits {
			c.traits[k], c.contentTraits[k] = word(11+k), word(11+len(c.traits)+k)
		}
	}
	return counts, nil
}

// readLost returns the processes that could not reach opassert, whose commands
// may be known.
func readLost(f io.ReaderAt, commands map[int]string) ([]string, error) {
	var record [lostSize]byte
	if _, err := f.ReadAt(record[:], countsOps*countsSize); err != nil {
		return nil, err
	}
	word := func(k int) int64 { return int64(binary.NativeEndian.Uint64(record[8*k:])) }
	var lost []string
	for i := range int(min(word(0), lostMost)) {
		lost = append(lost, fmt.Sprintf("process %d (%s) could not reach opassert: %v", word(1+2*i), cmp.Or(commands[int(word(1+2*i))], "a fork"), syscall.Errno(word(2+2*i))))
	}
	if more := word(0) - lostMost; more > 0 {
		lost = append(lost, fmt.Sprintf("%d more processes could not reach opassert", more))
	}
	return lost, nil
}

// uncountedTrait is the counter of calls whose results' uses are not known.
const uncountedTrait = 9

// traitOf says what the counters of traits count, in their order: the bits of
// oa_trait.
var traitOf = []asserts.Traits{
	asserts.MetaTensor, asserts.FunctionalWrapper, asserts.DirectSubclass, asserts.WrapperSubclass, asserts.NoVersion, asserts.ReportsViews, asserts.Storageless, asserts.Lazy, asserts.Unread,
}
