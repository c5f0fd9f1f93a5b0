package asserts

// pairs is how many pairs of tensors usual compares. Beyond it the judge, with its map of storages, is faster.
const pairs = 1024

// usual reports whether the judge can be left out: it would find no violation, and skip nothing
// except what usual counts itself. It returns false if in doubt.
func (c *Call) usual() bool {
	p, n, obs := c.plan, c.before, c.Record
	if !c.settings.usual || p.shape != shape(n, c.n) && //mutate:equivalent true: only saves time
		!c.fits() {
		return false
	}
	var traits Traits
	if n > 0 {
		// Written this way since most loops run once.
		for i := 0; ; {
			b, a := &obs[i], &obs[n+i]
			if a.Impl != b.Impl || a.Storage != b.Storage || a.Storage == 0 && a.Impl != 0 {
				return false
			}
			traits |= a.Traits | b.Traits
			if i++; i == n {
				break
			}
		}
	}
	if traits&c.settings.special != 0 {
		return false
	}
	var some, all int32
	if len(p.returns) > 0 { //mutate:equivalent true: only saves time
		var ok bool
		if some, all, ok = c.usualReturns(); !ok {
			return false
		}
	}
	if c.settings.level >= Content && (p.judgesContents || //mutate:equivalent false: every check has usual calls so far
		!c.usualContents()) {
		return false
	}
	switch {
	case all == NotCounted && !p.returnsLists && c.settings.level < Content: //mutate:equivalent false: only saves time
		c.counter = unheld // what skipUncounted would count
	case some < 0: //mutate:equivalent true: only saves time
		c.skipUncounted()
	}
	return true
}

// usualReturns examines the returns. It returns the bitwise or of their use counts, which is negative
// if one is not known, and the bitwise and, which is NotCounted if none is.
func (c *Call) usualReturns() (some, all int32, ok bool) {
	record, args := c.Record[:c.n], c.before
	at, traits, all := 2*args, Traits(0), NotCounted
	for i := range c.plan.returns {
		q, n := &c.plan.returns[i], 1
		if c.plan.lists { //mutate:equivalent true: only saves time
			moved := *q
			q = &moved
			q.self, q.base = c.plan.position(q.self, record[:args]), c.plan.position(q.base, record[:args])
			if q.list {
				n, _ = record[at].list()
				at++
			}
		}
		for ; n > 0; n-- {
			if !q.holds(record, args, at) {
				return 0, 0, false
			}
			o := &record[at]
			traits |= o.Traits
			some |= o.ImplUses | o.StorageUses
			all &= o.ImplUses & o.StorageUses
			at++
		}
	}
	return some, all, traits&c.settings.special == 0
}

// skipUncounted counts the returns of a usual call whose uses are not known.
func (c *Call) skipUncounted() {
	var skipped usualSkipped
	results := c.Record[2*c.before : c.n]
	for i := range c.plan.returns {
		q, count := &c.plan.returns[i], 1
		if q.list {
			count, _ = results[0].list()
			results = results[1:]
		}
		for j := range results[:count] {
			o := &results[j]
			if q.maxImpl == 1 && o.Defined() && o.ImplUses == NotCounted {
				skipped[uncountedImpl]++
			}
			if q.maxStorage == 1 && o.Defined() && o.StorageUses == NotCounted {
				skipped[uncountedStorage]++
			}
		}
		results = results[count:]
	}
	c.plan.skip(&skipped)
}

// holds compares the tensor of a return at an index of a record with the arguments before the call, self and base among
// them, and with the tensors that are returned after it.
func (q *usualReturn) holds(record []Observation, args, at int) bool {
	o := &record[at]
	switch {
	case q.self != noArgument:
		// One TensorImpl seen with two storages is for the judge.
		return o.Impl == record[q.self].Impl && o.Storage == record[q.self].Storage
	case o.Impl == 0:
		return q.base == noArgument
	case o.Storage == 0 || o.ImplUses > q.maxImpl || o.StorageUses > q.maxStorage:
		return false
	case q.base != noArgument && o.Storage != record[q.base].Storage:
		return false
	}
	for i := range record[:args] {
		if o.Impl == record[i].Impl || o.Storage == record[i].Storage && i != q.base {
			return false
		}
	}
	for i := at + 1; i < len(record); i++ {
		// Views share the storage of their base, which has been compared.
		if o.Impl == record[i].Impl || o.Storage == record[i].Storage && q.base == noArgument {
			return false
		}
	}
	return true
}

// fits reports whether the record has the shape of the op, and is short.
func (c *Call) fits() bool {
	p, n := c.plan, c.before
	if !p.usual || c.n < 2*n {
		return false
	}
	args, results := c.Record[:n], c.Record[2*n:c.n]
	if len(results)*(n+len(results)) > pairs || p.position(len(p.args), args) != n {
		return false
	}
	at := 0
	for i := range p.returns {
		if at >= len(results) {
			return false
		}
		count, list := results[at].list()
		if list != p.returns[i].list {
			return false
		}
		at += 1 + count
	}
	return at == len(results)
}

// position returns the index in a record at which an argument begins, noArgument for noArgument, or
// an index beyond the end if the record is too short.
func (p *plan) position(arg int, record []Observation) int {
	if arg == noArgument {
		return noArgument
	}
	at := 0
	for range arg {
		if at >= len(record) {
			return len(record) + 1
		}
		n, _ := record[at].list()
		at += 1 + n
	}
	return at
}
