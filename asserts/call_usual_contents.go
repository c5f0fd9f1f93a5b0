package asserts

import (
	"bytes"
	"slices"
)

// usualSkips are skips of otherwise usual calls, where no references or versions are counted. A plan counts its own.
var usualSkips = [...]Skip{
	{Code: FreshImpl, Reason: notCounted},
	{Code: FreshStorage, Reason: notCounted},
	{Code: VersionBump, Reason: noVersion},
	{Code: KeptArgument, Reason: notCounted},
}

const (
	uncountedImpl = iota // indices in usualSkips
	uncountedStorage
	unversioned
	uncounted
)

// usualSkipped counts the skips of one call.
type usualSkipped [len(usualSkips)]uint64

// usualContents is usual for the content level, for a call that is usual at the identity level.
func (c *Call) usualContents() bool {
	var skipped usualSkipped
	at := 0
	for i := range c.plan.args {
		s, count := &c.plan.args[i], 1
		if s.List {
			count, _ = c.Record[at].list()
			at++
		}
		for ; count > 0; count-- {
			if !c.nothing(at, c.before+at) && !(c.usualArgument(s, at, &skipped) && c.unheldBy(s, at, &skipped)) {
				return false
			}
			at++
		}
	}
	for at = 2 * c.before; at < c.n; at++ {
		if !c.nothing(at, at) && !c.usualReturnContents(at) {
			return false
		}
	}
	c.plan.skip(&skipped)
	return true
}

// skip counts the skips that are not waived.
func (p *plan) skip(skipped *usualSkipped) {
	for i, n := range skipped {
		if n > 0 && //mutate:equivalent true: only saves time
			!p.waived.Has(usualSkips[i].Code) {
			p.skipped[i].Add(n)
		}
	}
}

// usualSkips returns the skips of usual calls since the last time.
func (p *plan) usualSkips() (skips []Skip) {
	all := p.unheld
	n := p.calls[unheld].Swap(0)
	for i := range all {
		all[i] *= n
	}
	p.skip(&all)
	p.calls[atIdentity].Add(n)
	for i := range p.skipped {
		if n := p.skipped[i].Swap(0); n > 0 {
			skip := usualSkips[i]
			skip.Count = int(n)
			skips = append(skips, skip)
		}
	}
	return skips
}

// nothing reports whether two observations are of an undefined tensor, or are the heads of a list.
func (c *Call) nothing(i, j int) bool { return c.Record[i].Impl == 0 && c.Record[j].Content == nil }

func (c *Call) usualArgument(s *subjectPlan, at int, skipped *usualSkipped) bool {
	b, a := &c.Record[at], &c.Record[c.before+at]
	x, y := b.Content, a.Content
	if x == nil || y == nil || !sameForm(x, y) {
		return false
	}
	same := x.Digest == y.Digest && bytes.Equal(x.Bytes, y.Bytes)
	traits := a.Traits | b.Traits
	switch {
	case !s.Write:
		return same && a.Version == b.Version
	case !y.covers() || len(x.Bytes) != len(y.Bytes) || c.shared(at):
		return false
	case traits == NoVersion && c.settings.policy.forTensor(NoVersion).Has(VersionBump):
		if s.codes.Has(VersionBump) {
			skipped[unversioned]++
		}
		return true
	}
	return traits&NoVersion == 0 && (same || int32(a.Version-b.Version) > 0)
}

// unheldBy examines the references to an argument before and after.
func (c *Call) unheldBy(s *subjectPlan, at int, skipped *usualSkipped) bool {
	b, a := &c.Record[at], &c.Record[c.before+at]
	switch {
	case !c.settings.alone || !s.codes.Has(KeptArgument):
		return true
	case !a.counted():
		skipped[uncounted]++
		return true
	case a.ImplUses != b.ImplUses || a.StorageUses != b.StorageUses || a.Content.RequiresGrad:
		return false
	}
	for i := 2 * c.before; i < c.n; i++ {
		o := &c.Record[i]
		if o.Impl != 0 && (o.Storage == a.Storage && o.Impl != a.Impl || o.Content == nil || o.Content.RequiresGrad) {
			return false
		}
	}
	return true
}

func (c *Call) usualReturnContents(at int) bool {
	o := &c.Record[at]
	y := o.Content
	if y == nil || y.Owner != OwnStorage || y.Counter != 0 || len(y.Parts) > 0 {
		return false
	}
	if first, end, known := y.Extent(); !known || first < 0 || end > y.Nbytes {
		return false
	}
	for i := c.before; i < c.n; i++ {
		if overlaps(o, &c.Record[i]) {
			return false
		}
	}
	return true
}

// shared reports whether another argument shares the memory of the one at an index.
func (c *Call) shared(at int) bool {
	o := &c.Record[at]
	for i := range c.before {
		if other := &c.Record[i]; i != at && (other.Storage == o.Storage || overlaps(o, other)) {
			return true
		}
	}
	return false
}

// sameForm reports whether two snapshots are equal apart from the bytes. Tensors with parts never are.
func sameForm(x, y *Snapshot) bool {
	return slices.Equal(x.Sizes, y.Sizes) && slices.Equal(x.Strides, y.Strides) && x.Offset == y.Offset &&
		x.DType == y.DType && x.Layout == y.Layout && x.Nbytes == y.Nbytes && x.Memory == y.Memory &&
		x.Conj == y.Conj && x.Neg == y.Neg && x.RequiresGrad == y.RequiresGrad && x.Grad == y.Grad &&
		x.Names == y.Names && x.Quantizer == y.Quantizer &&
		len(x.Parts)+len(y.Parts) == 0
}

// covers reports whether the elements cover the whole storage, in row-major order, and all its bytes are copied.
func (c *Snapshot) covers() bool {
	if c.Offset != 0 || !c.strided() || len(c.Strides) != len(c.Sizes) || int64(len(c.Bytes)) != c.Nbytes ||
		c.Nbytes > SnapshotLimit {
		return false
	}
	size := c.elementSize()
	n := int64(1)
	for d, of := range slices.Backward(c.Sizes) {
		if of < 0 || of != 1 && c.Strides[d] != n {
			return false
		}
		n *= of
	}
	return size > 0 && n*size == c.Nbytes
}
