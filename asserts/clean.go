package asserts

// pairs is up to how many pairs of tensors clean compares. Beyond it the judge,
// which looks storages up in a map, is the faster one.
const pairs = 1024

// clean tells that nothing about the call is worth a closer look: the judge
// would find no violation and skip nothing. It is a shortcut for the usual
// call and decides nothing itself; wherever it is in doubt it says no.
func (c *Call) clean() bool {
	p, n := c.plan, c.before
	if !c.settings.quick || !p.shortcuts || c.n < 2*n || c.n > len(c.obs) {
		return false
	}
	before, results := c.obs[:n], c.obs[2*n:c.n]
	after := c.obs[n:][:len(before)]
	var traits Traits
	for i := range before {
		b, a := &before[i], &after[i]
		if a.Impl != b.Impl || a.Storage != b.Storage || a.Storage == 0 && a.Impl != 0 {
			return false
		}
		traits |= a.Traits | b.Traits
	}
	if traits&c.settings.special != 0 {
		return false
	}
	if p.lists { //mutate:equivalent true: only saves time
		return c.cleanLists(after, results)
	}
	if n != len(p.args) || len(results) != len(p.quick) {
		return false
	}
	if len(results) == 0 { //mutate:equivalent false: only saves time
		return true
	}
	return c.cleanResults(after, results)
}

// cleanResults looks at the returns of an op without lists.
func (c *Call) cleanResults(args, results []Observation) bool {
	var traits Traits
	for i := range results {
		q, o := &c.plan.quick[i], &results[i]
		traits |= o.Traits
		switch {
		case q.self >= 0:
			if o.Impl != args[q.self].Impl {
				return false
			}
		case o.Impl == 0:
		case !q.clean(o, args, q.base) || !q.apart(o, results[i+1:]):
			return false
		}
	}
	return traits&c.settings.special == 0
}

// quickResult is what clean knows of a return.
type quickResult struct {
	maxImpl, maxStorage int32 // use counts above these need a closer look
	self, base          int   // the one argument of selves and of bases; -1: none
	list                bool
}

// clean looks at one defined tensor of a return, on its own and against the arguments;
// base is where its base stands among those.
func (q *quickResult) clean(o *Observation, args []Observation, base int) bool {
	if o.Storage == 0 || o.ImplUses > q.maxImpl || o.StorageUses > q.maxStorage {
		return false
	}
	if base >= 0 && o.Storage != args[base].Storage {
		return false
	}
	for i := range args {
		if o.Storage == args[i].Storage && i != base || o.Impl == args[i].Impl {
			return false
		}
	}
	return true
}

// apart holds one defined tensor of a return against others. Views share the storage
// of their base, which clean has looked at.
func (q *quickResult) apart(o *Observation, others []Observation) bool {
	for i := range others {
		if o.Impl == others[i].Impl || o.Storage == others[i].Storage && q.base < 0 {
			return false
		}
	}
	return true
}

// cleanLists looks at the returns of an op some of whose subjects are lists.
func (c *Call) cleanLists(args, results []Observation) bool {
	if len(results)*(len(args)+len(results)) > pairs || c.plan.position(len(c.plan.args), args) != len(args) {
		return false
	}
	var traits Traits
	for i := range c.plan.quick {
		q := &c.plan.quick[i]
		count := 1
		if q.list {
			if len(results) == 0 {
				return false
			}
			n, ok := results[0].header()
			if !ok {
				return false
			}
			count, results = n, results[1:]
		}
		if count > len(results) {
			return false
		}
		self, base := c.plan.position(q.self, args), c.plan.position(q.base, args)
		for j := range results[:count] {
			o := &results[j]
			traits |= o.Traits
			if q.self >= 0 {
				if o.Impl != args[self].Impl {
					return false
				}
				continue
			}
			if o.Impl == 0 {
				continue
			}
			if !q.clean(o, args, base) || !q.apart(o, results[j+1:]) {
				return false
			}
		}
		results = results[count:]
	}
	return len(results) == 0 && traits&c.settings.special == 0
}

// position gives where in a record an argument begins, -1 for no argument, or
// beyond the end of a record that is too short.
func (p *plan) position(arg int, record []Observation) int {
	if arg < 0 {
		return -1
	}
	at := 0
	for range arg {
		if at >= len(record) {
			return len(record) + 1
		}
		n, _ := record[at].header()
		at += 1 + n
	}
	return at
}
