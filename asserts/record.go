package asserts

import "sync"

// records are the records that cleanSeen used last.
var records = sync.Pool{New: func() any { return new([]Observation) }}

// cleanSeen is clean for the call that an engine saw, which it first copies into a record:
// see Note [Two forms of a call].
func (c *Call) cleanSeen(seen *Seen) bool {
	if !c.settings.quick || //mutate:equivalent true: only saves time
		seen.Autograd || len(seen.Earlier)+len(seen.Late) > 0 || seen.Alone != c.settings.alone || seen.Level != c.settings.level {
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
	*pooled, c.obs, c.n = record, record, len(record)
	clean := c.clean()
	c.obs = nil
	return clean
}

// appendRun moves the tensors of one subject from a Seen into a record.
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
