package asserts

// pairs is up to how many pairs of tensors clean compares. Beyond it the judge,
// which looks storages up in a map, is the faster one.
const pairs = 1024

// clean reports that nothing about the call is worth a closer look: the judge
// would find no violation and skip nothing besides the checks that it counts itself. It is a shortcut
// for the usual call and decides nothing itself; wherever it is in doubt it says no.
func (c *Call) clean() bool {
	var uses int32
	if !c.settings.quick || !c.cleanIdentity(&uses) || c.settings.level >= Content &&
		(c.plan.asks || //mutate:equivalent false: every check names its usual calls, so far
			!c.cleanContents()) {
		return false
	}
	if uses < 0 { //mutate:equivalent true: only saves time
		c.skipUncounted()
	}
	return true
}

// cleanIdentity is clean for the identity level. The uses of the returns, put
// together, are negative where one is not known.
func (c *Call) cleanIdentity(uses *int32) bool {
	p := c.plan
	if p.shape != shape(c.before, c.n) && //mutate:equivalent true: only saves time
		!c.fits() {
		return false
	}
	n, obs := c.before, c.obs
	var traits Traits
	if n > 0 {
		// This way round, since many calls go through it once.
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
	if len(p.quick) == 0 { //mutate:equivalent false: only saves time
		return true
	}
	if p.lists { //mutate:equivalent true: only saves time
		return c.cleanLists(uses)
	}
	return c.cleanResults(uses)
}

// varies stands for a shape that depends on the lengths of lists.
const varies = -1

// shape is how many observations a record has before the call, and in all.
func shape(before, all int) int64 { return int64(before)<<32 | int64(all) }

// cleanResults looks at the returns of an op without lists.
func (c *Call) cleanResults(uses *int32) bool {
	args, results := c.obs[:c.before], c.obs[2*c.before:c.n]
	var traits Traits
	var all int32
	for i := range results {
		o := &results[i]
		if !c.plan.quick[i].clean(o, args, results[i+1:]) {
			return false
		}
		traits |= o.Traits
		all |= o.ImplUses | o.StorageUses
	}
	*uses = all
	return traits&c.settings.special == 0
}

// skipUncounted counts the returns of a clean call whose uses are not known.
func (c *Call) skipUncounted() {
	var skipped usualSkipped
	results := c.obs[2*c.before : c.n]
	for i := range c.plan.quick {
		q, count := &c.plan.quick[i], 1
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

// quickResult holds the facts of a return that clean asks for.
type quickResult struct {
	maxImpl, maxStorage int32 // use counts above these need a closer look
	self, base          int   // the one argument of selves and of bases, or noArgument
	list                bool
}

const noArgument = -1

// clean holds one tensor of a return against the arguments, among which self
// and base stand, and against the tensors that are returned after it.
func (q *quickResult) clean(o *Observation, args, others []Observation) bool {
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
		// Views share the storage of their base, which has been looked at.
		if o.Impl == others[i].Impl || o.Storage == others[i].Storage && q.base == noArgument {
			return false
		}
	}
	return true
}

// fits reports whether the record has the shape of the op, and is short.
func (c *Call) fits() bool {
	p, n := c.plan, c.before
	if !p.shortcuts || c.n < 2*n || c.n > len(c.obs) {
		return false
	}
	args, results := c.obs[:n], c.obs[2*n:c.n]
	if len(results)*(n+len(results)) > pairs || p.position(len(p.args), args) != n {
		return false
	}
	at := 0
	for i := range p.quick {
		if at >= len(results) {
			return false
		}
		count, list := results[at].list()
		if list != p.quick[i].list {
			return false
		}
		at += 1 + count
	}
	return at == len(results)
}

// cleanLists looks at the returns of an op some of whose subjects are lists.
func (c *Call) cleanLists(uses *int32) bool {
	args, results := c.obs[:c.before], c.obs[2*c.before:c.n]
	var traits Traits
	for i := range c.plan.quick {
		q, count := c.plan.quick[i], 1
		if q.list {
			count, _ = results[0].list()
			results = results[1:]
		}
		q.self, q.base = c.plan.position(q.self, args), c.plan.position(q.base, args)
		for ; count > 0; count-- {
			o := &results[0]
			results = results[1:]
			if !q.clean(o, args, results) {
				return false
			}
			traits |= o.Traits
			*uses |= o.ImplUses | o.StorageUses
		}
	}
	return traits&c.settings.special == 0
}

// position returns where in a record an argument begins, noArgument for that, or
// beyond the end of a record that is too short.
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
