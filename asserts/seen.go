package asserts

import "fmt"

// Seen is the observations of one call: plain data, from a wrapper, from the libtorch engine or
// from a log.
type Seen struct {
	Level   Level
	Before  []Observation // every tensor of every argument in order, before the call
	After   []Observation // the same tensors after it
	Results []Observation // every tensor of every return in order; none if the call failed

	// The number of tensors of each of Op.Args and of Op.Results; nil if each has one.
	ArgLens, ResultLens []int

	// The names in reports of the tensors of each of Op.Args and of Op.Results; tensors without a
	// name are numbered.
	ArgNames, ResultNames [][]string

	// Numbers are the returned integers, floats and bools as text, also those in lists; "" is an
	// unknown one. Nil if the engine does not supply them.
	Numbers []string

	Modes []Mode // active during the call

	// Earlier are the arguments and the returns without an alias set of the op's previous call,
	// with their parts, if still referenced.
	Earlier []Earlier

	// Late is every tensor of After and then of Results some milliseconds after the call; nil if
	// not observed again.
	Late []Observation

	// Alone reports that no other goroutine or thread used the tensors during the call, so that
	// only the op can have taken a reference.
	Alone bool

	// Made reports that only the op can have released a reference to an argument, in a library
	// without autograd: the arguments were made for this call, or no other goroutine ran.
	Made bool

	// Plain reports that the library has no autograd, functionalization or compilers, as for Go
	// kernels: reports do not mention them.
	Plain bool

	// Autograd reports that the call went through autograd, which saves tensors for backward: only
	// OA014 is judged.
	Autograd bool
}

// late splits Late by subject.
func (s *Seen) late(op *Op) (args, results [][]Observation) {
	n := min(len(s.After), len(s.Late))
	return split(s.Late[:n], s.ArgLens, op.Args), split(s.Late[n:], s.ResultLens, op.Results)
}

// Number replaces IDs by serial numbers, in order of appearance, so that reports of a call are
// equal in every run, even if IDs are addresses.
func (s *Seen) Number() {
	numbers := make(map[ID]ID)
	numberOf := func(id ID) ID {
		if id != 0 && numbers[id] == 0 {
			numbers[id] = ID(len(numbers) + 1)
		}
		return numbers[id]
	}
	numbered := make(map[*Snapshot]bool)
	var number func(o *Observation)
	number = func(o *Observation) {
		o.Impl, o.Storage = numberOf(o.Impl), numberOf(o.Storage)
		if o.Content == nil || numbered[o.Content] {
			return
		}
		numbered[o.Content] = true
		for i := range o.Content.Parts {
			number(&o.Content.Parts[i].Observation)
		}
	}
	for _, side := range [][]Observation{s.Before, s.After, s.Results} {
		for i := range side {
			number(&side[i])
		}
	}
	for i := range s.Earlier {
		number(&s.Earlier[i].Now)
	}
}

// Earlier is a return or an argument of an earlier call: at the end of that call, and after this
// one.
type Earlier struct {
	Then, Now Observation
	Arg       int // of an argument, one more than its position in the schema; 0 for a return
}

// Split returns the observations of each argument, before and after the call, and of each return.
func (s *Seen) Split(op *Op) (before, after, results [][]Observation) {
	return split(s.Before, s.ArgLens, op.Args), split(s.After, s.ArgLens, op.Args), split(s.Results, s.ResultLens, op.Results)
}

// split cuts observations into one run for each subject. Missing runs are empty, and surplus
// observations are dropped.
func split(obs []Observation, lens []int, subjects []Subject) [][]Observation {
	runs := make([][]Observation, len(subjects))
	for i, s := range subjects {
		n := 1
		if s.List && lens != nil {
			n = 0
			if i < len(lens) {
				n = lens[i]
			}
		}
		n = max(0, min(n, len(obs)))
		runs[i], obs = obs[:n], obs[n:]
	}
	return runs
}

// Note [Two forms of a call]: a Seen is plain data that outlives the call; a wrapper's record is
// flat and stays on its stack. With a Seen instead, a call with three tensors would take 7
// allocations, and making it alone some 25 times as long as Call.usual does with the record. For an
// engine, usualSeen copies the Seen into a record: that takes a fortieth of the judge's time.

// headOf returns the observation recorded before the tensors of a list. It has their number, by
// which Call.usual distinguishes lists of several lengths, and tensors of several storages.
func headOf(n int) Observation { return Observation{Storage: ID(n), Traits: listHead} }

// list returns the length of the list that begins here; ok is false for a tensor.
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

// seen returns the call's record as plain data.
func (c *Call) seen() (*Seen, error) {
	s := &Seen{Level: c.settings.level, Alone: c.settings.alone, Plain: true}
	if c.n > len(c.obs) {
		return nil, fmt.Errorf("%d tensors were recorded, more than the op has", c.n)
	}
	if c.n < 2*c.before {
		return nil, fmt.Errorf("%d tensors were recorded before the call and %d after it", c.before, c.n-c.before)
	}
	s.Before, s.ArgLens = unpack(c.obs[:c.before])
	s.After, _ = unpack(c.obs[c.before : 2*c.before])
	s.Results, s.ResultLens = unpack(c.obs[2*c.before : c.n])
	if n := len(s.ArgLens); n != len(c.plan.args) {
		return nil, fmt.Errorf("%d arguments were recorded, the op has %d", n, len(c.plan.args))
	}
	if n := len(s.ResultLens); n != len(c.plan.results) && n != 0 {
		return nil, fmt.Errorf("%d returns were recorded, the op has %d", n, len(c.plan.results))
	}
	if h := c.settings.holding; h != nil {
		s.Late, s.Earlier = h.late, h.earlier(c.obs[:2*c.before])
		s.Made = h.settings.keeps && h.finalized == finalized()
	}
	for _, m := range c.settings.modes {
		s.Modes = append(s.Modes, *m)
	}
	return s, nil
}
