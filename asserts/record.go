package asserts

import "sync"

// records holds records for usualSeen to use again.
var records = sync.Pool{New: func() any { return new([]Observation) }}

// usualSeen is usual for a call that an engine observed: it copies the observations into a record,
// see Note [Two forms of a call].
func (c *Call) usualSeen(seen *Seen) bool {
	if !c.settings.usual || //mutate:equivalent true: only saves time
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
	usual := c.usual()
	c.obs = nil
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
