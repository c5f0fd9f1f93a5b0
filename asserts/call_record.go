package asserts

import (
	"fmt"
	"sync"
)

// Note [Two forms of a call]: a Seen is plain data that outlives the call; a wrapper's record is
// flat and stays on its stack. With a Seen instead, a call with three tensors would take 7
// allocations, and making it alone some 25 times as long as Call.usual does with the record. For an
// engine, usualSeen copies the Seen into a record: that takes a fortieth of the judge's time.

// headOf returns the observation recorded before the tensors of a list. It has their number, by
// which Call.usual distinguishes lists of several lengths, and tensors of several storages.
func headOf(n int) Observation { return Observation{Storage: ID(n), Traits: listHead} }

func (o *Observation) list() (n int, ok bool) {
	if o.Traits&listHead == 0 {
		return 0, false
	}
	return int(o.Storage), true
}

// unpack removes the heads of lists from a record: it returns the tensors, and how many each
// subject has. It copies, so that the record can stay on its stack.
func unpack(record []Observation) (obs []Observation, lens []int) {
	obs = make([]Observation, 0, len(record))
	for i := 0; i < len(record); i++ {
		n, ok := record[i].list()
		if !ok {
			obs, lens = append(obs, record[i]), append(lens, 1)
			continue
		}
		n = min(n, len(record)-i-1)
		obs, lens = append(obs, record[i+1:i+1+n]...), append(lens, n)
		i += n
	}
	return obs, lens
}

func (c *Call) seen() (*Seen, error) {
	s := &Seen{Level: c.settings.level, Alone: c.settings.alone, Plain: true}
	if c.n < 2*c.before {
		return nil, fmt.Errorf("%d tensors were recorded before the call and %d after it", c.before, c.n-c.before)
	}
	s.Before, s.ArgLens = unpack(c.Record[:c.before])
	s.After, _ = unpack(c.Record[c.before : 2*c.before])
	s.Results, s.ResultLens = unpack(c.Record[2*c.before : c.n])
	if n := len(s.ArgLens); n != len(c.plan.args) {
		return nil, fmt.Errorf("%d arguments were recorded, the op has %d", n, len(c.plan.args))
	}
	if n := len(s.ResultLens); n != len(c.plan.results) && n != 0 {
		return nil, fmt.Errorf("%d returns were recorded, the op has %d", n, len(c.plan.results))
	}
	if h := c.settings.holding; h != nil {
		s.Late, s.Earlier = h.late, h.earlier(c.Record[:2*c.before])
		s.Made = h.settings.keeps && h.finalized == finalized()
	}
	for _, m := range c.settings.modes {
		s.Modes = append(s.Modes, *m)
	}
	return s, nil
}

// records holds records for usualSeen to use again.
var records = sync.Pool{New: func() any { return new([]Observation) }}

// usualSeen is usual for a call of an engine: it copies the observations into a record, see Note [Two forms of a call].
func (c *Call) usualSeen(seen *Seen) bool {
	if !c.settings.usual || //mutate:equivalent true: only saves time
		seen.Autograd || len(seen.Earlier)+len(seen.Late) > 0 || seen.Alone != c.settings.alone ||
		seen.Level != c.settings.level {
		return false
	}
	pooled := records.Get().(*[]Observation)
	defer records.Put(pooled)
	record := (*pooled)[:0]
	for _, side := range [][]Observation{seen.Before, seen.After} {
		for i := range c.plan.args {
			record, side = appendRun(record, side, seen.ArgLens, i, c.plan.args[i].List)
		}
		if c.before == 0 {
			c.before = len(record)
		}
	}
	side := seen.Results
	for i := range c.plan.results {
		record, side = appendRun(record, side, seen.ResultLens, i, c.plan.results[i].List)
	}
	*pooled, c.Record, c.n = record, record, len(record)
	usual := c.usual()
	c.Record = nil
	return usual
}

// appendRun moves the tensors of one subject from a Seen to a record.
func appendRun(record, obs []Observation, lens []int, subject int, list bool) (longer, rest []Observation) {
	n := 1
	if lens != nil {
		n = 0
		if subject < len(lens) {
			n = lens[subject]
		}
	}
	n = max(0, min(n, len(obs)))
	if list {
		record = append(record, headOf(n))
	}
	return append(record, obs[:n]...), obs[n:]
}
