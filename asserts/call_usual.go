package asserts

// pairs is the number of pairs of tensors that usual compares. Beyond it the judge, which finds
// storages in a map, is faster.
const pairs = 1024

// usual reports whether the judge can be left out: it would find no violation, and skip nothing
// except what usual counts itself. It returns false if in doubt.
func (c *Call) usual() bool {
	var uses int32
	if !c.settings.usual || !c.usualIdentity(&uses) || c.settings.level >= Content &&
		(c.plan.judgesContents || //mutate:equivalent false: every check has usual calls so far
			!c.usualContents()) {
		return false
	}
	if uses < 0 { //mutate:equivalent true: only saves time
		c.skipUncounted()
	}
	return true
}

// usualIdentity is usual for the identity level. It stores the bitwise or of the returns' use
// counts, which is negative if one is not known.
func (c *Call) usualIdentity(uses *int32) bool {
	p := c.plan
	if p.shape != shape(c.before, c.n) && //mutate:equivalent true: only saves time
		!c.fits() {
		return false
	}
	n, obs := c.before, c.Record
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
	if len(p.returns) == 0 { //mutate:equivalent false: only saves time
		return true
	}
	if p.lists { //mutate:equivalent true: only saves time
		return c.usualLists(uses)
	}
	return c.usualReturns(uses)
}

// varies is the shape of an op's records if it depends on the lengths of lists.
const varies = -1

// shape combines the numbers of observations in a record: before the call, and in all.
func shape(before, all int) int64 { return int64(before)<<32 | int64(all) }

// usualReturns examines the returns of an op without lists.
func (c *Call) usualReturns(uses *int32) bool {
	args, results := c.Record[:c.before], c.Record[2*c.before:c.n]
	var traits Traits
	var all int32
	for i := range results {
		o := &results[i]
		if !c.plan.returns[i].holds(o, args, results[i+1:]) {
			return false
		}
		traits |= o.Traits
		all |= o.ImplUses | o.StorageUses
	}
	*uses = all
	return traits&c.settings.special == 0
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
	if c.settings.level < Content && skipped == c.plan.unheld {
		c.uncounted = true // an atomic operation less
		return
	}
	c.plan.skip(&skipped)
}

// usualReturn holds what usual compares a return with.
type usualReturn struct {
	maxImpl, maxStorage int32 // greater use counts need the judge
	self, base          int   // the only argument that the return must be, or be a view of; or noArgument
	list                bool
}

const noArgument = -1

// holds compares one tensor of a return with the arguments, self and base among them, and with the
// tensors that are returned after it.
func (q *usualReturn) holds(o *Observation, args, others []Observation) bool {
	switch {
	case q.self != noArgument:
		// One TensorImpl seen with two storages is for the judge.
		return o.Impl == args[q.self].Impl && o.Storage == args[q.self].Storage
	case o.Impl == 0:
		return q.base == noArgument
	case o.Storage == 0 || o.ImplUses > q.maxImpl || o.StorageUses > q.maxStorage:
		return false
	case q.base != noArgument && o.Storage != args[q.base].Storage:
		return false
	}
	for i := range args {
		if o.Impl == args[i].Impl || o.Storage == args[i].Storage && i != q.base {
			return false
		}
	}
	for i := range others {
		// Views share the storage of their base, which has been compared.
		if o.Impl == others[i].Impl || o.Storage == others[i].Storage && q.base == noArgument {
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

// usualLists examines the returns of an op with lists.
func (c *Call) usualLists(uses *int32) bool {
	args, results := c.Record[:c.before], c.Record[2*c.before:c.n]
	var traits Traits
	for i := range c.plan.returns {
		q, count := c.plan.returns[i], 1
		if q.list {
			count, _ = results[0].list()
			results = results[1:]
		}
		q.self, q.base = c.plan.position(q.self, args), c.plan.position(q.base, args)
		for ; count > 0; count-- {
			o := &results[0]
			results = results[1:]
			if !q.holds(o, args, results) {
				return false
			}
			traits |= o.Traits
			*uses |= o.ImplUses | o.StorageUses
		}
	}
	return traits&c.settings.special == 0
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
