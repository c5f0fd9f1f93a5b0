package watch

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"syscall"
)

// countsOf is the part of one op in the file of counts, which all processes map:
// struct Counts of counts.h. The counts are followed by struct Lost of channel.h.
type countsOf struct {
	tallies
	traits, contentTraits [16]int64
	unheld, contentUnheld [countsCodes]int64     // by codes
	written               [3 * countsCodes]int64 // of the first arguments in the plan; see writes
}

// writes returns the number of observed calls of an argument with (a!), the least
// number of their sizes, and whether one changed it.
func (c *countsOf) writes(arg int) (calls, sizes int, changed bool) {
	if arg >= countsCodes {
		return 0, 0, false
	}
	of := c.written[3*arg:]
	return int(of[0]), bits.OnesCount64(uint64(of[2])), of[1] > 0
}

const (
	countsCodes = 32
	countsSize  = talliesSize + 8*(2*16+5*countsCodes)
	countsOps   = 1 << 14
	lostMost    = 255 // struct Lost of channel.h
	lostSize    = 8 + lostMost*16
)

func readCounts(f io.ReaderAt, n int) ([]countsOf, error) {
	counts := make([]countsOf, min(n, countsOps))
	for i := range counts {
		var record [countsSize]byte
		if _, err := f.ReadAt(record[:], int64(i)*countsSize); err != nil {
			return nil, err
		}
		c := &counts[i]
		rest, _ := c.read(record[:])
		for _, of := range [][]int64{c.traits[:], c.contentTraits[:], c.unheld[:], c.contentUnheld[:], c.written[:]} {
			for k := range of {
				of[k] = int64(binary.NativeEndian.Uint64(rest[8*k:]))
			}
			rest = rest[8*len(of):]
		}
	}
	return counts, nil
}

// readLost returns the processes that could not reach opassert, with their commands if known.
func readLost(f io.ReaderAt, commands map[int]string) ([]string, error) {
	var record [lostSize]byte
	if _, err := f.ReadAt(record[:], countsOps*countsSize); err != nil {
		return nil, err
	}
	word := func(k int) int64 { return int64(binary.NativeEndian.Uint64(record[8*k:])) }
	var lost []string
	for i := range int(min(word(0), lostMost)) {
		lost = append(lost, fmt.Sprintf("process %d (%s) could not reach opassert: %v", word(1+2*i),
			cmp.Or(commands[int(word(1+2*i))], "a fork"), syscall.Errno(word(2+2*i))))
	}
	if more := word(0) - lostMost; more > 0 {
		lost = append(lost, fmt.Sprintf("%d more processes could not reach opassert", more))
	}
	return lost, nil
}
