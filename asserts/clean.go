package asserts

// pairs is up to how many pairs of tensors clean compares. Beyond it the judge,
// which looks storages up in a map, is the faster one.
const pairs = 1024

// clean tells that nothing about the call is worth a closer look: the judge
// would find no violation and skip nothing. It is a shortcut for the usual
// call and decides nothing itself; wherever it is in doubt it says no.
func (c *Call) clean() bool {
	p, n := c.plan, c.before
	if c.level != Identity || c.settings.closer || c.n < 2*n {
		return false
	}
	before, after, results := c.obs[:n], c.obs[n:2*n], c.obs[2*n:c.n]
	if !p.lists && (n != len(p.args) || len(results) != len(p.results)) {
		return false
	}
	if len(results)*(n+len(results)) > pairs {
		return false
	}
	var traits Traits
	for i := range after {
		a, b := &after[i], &before[i]
		if a.Impl != b.Impl || a.Storage != b.Storage || a.Storage == 0 && a.Impl != 0 {
			return false
		}
		traits |= a.Traits | b.Traits
	}
	for i := range p.results {
		r := &p.results[i]
		count := 1
		if r.List {
			if len(results) == 0 {
				return false
			}
			n, ok := results[0].header()
			if !ok {
				return false
			}
			count, results = n, results[1:]
		}
		if count > len(results) || r.closer {
			return false
		}
		if !r.clean(p, results[:count], after, results[count:]) {
			return false
		}
		for j := range results[:count] {
			traits |= results[j].Traits
		}
		results = results[count:]
	}
	return len(results) == 0 && traits&c.settings.special == 0
}

// clean looks at the tensors of one return: on their own, against the
// arguments, and against each other and those of later returns.
func (r *resultPlan) clean(p *plan, own, args, later []Observation) bool {
	base := -1
	if arg := max(r.self, r.base); arg >= 0 {
		if base = p.position(arg, args); base >= len(args) {
			return false
		}
	}
	if r.self >= 0 {
		return own[0].Impl == args[base].Impl
	}
	for i := range own {
		o := &own[i]
		if o.Impl == 0 {
			continue
		}
		if o.Storage == 0 || o.ImplUses > r.maxImpl || o.StorageUses > r.maxStorage {
			return false
		}
		if base >= 0 && o.Storage != args[base].Storage {
			return false
		}
		for j := range args {
			if o.Impl == args[j].Impl || o.Storage == args[j].Storage && j != base {
				return false
			}
		}
		for _, others := range [2][]Observation{own[i+1:], later} {
			for j := range others {
				if o.Impl == others[j].Impl || o.Storage == others[j].Storage && base < 0 {
					return false
				}
			}
		}
	}
	return true
}

// position gives where in a record a single argument stands, or beyond the
// record's end when it does not fit the op.
func (p *plan) position(arg int, record []Observation) int {
	if !p.lists {
		return arg
	}
	at := 0
	for ; arg > 0 && at < len(record); arg-- {
		n, _ := record[at].header()
		at += 1 + n
	}
	return at
}
