package trace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts/preserve"
)

// followObject takes in what is said of an object: its last reference went.
func (f *follower) followObject(r *record) {
	o := f.objects[r.addr]
	if o == nil {
		o = f.firstSeen(r.addr)
	}
	switch r.message {
	case enterDealloc:
		f.event(&o.Life, Released)
		o.released(r.interp, f.number)
	case enter:
		if r.interp != 0 && o.facts.releaser == 0 {
			o.facts.releaser, o.facts.releaserAt = r.interp, f.number
		}
	case isHermetic:
		o.facts.hermeticAt = f.number
		f.event(&o.Life, ReleasedHermetic)
	case slotHas:
		o.facts.tag, o.facts.tagAt = r.tag, f.number
		if r.ref == r.addr {
			f.proved(o)
		}
	case slotHasNone:
		o.facts.noneAt = f.number
		f.event(&o.Life, CheckNone)
	case slotOwns:
		if !o.borrow {
			f.breaks(preserve.OneOwner, o, o.Impl, "released by its last holder, and the impl owns it too")
		}
	case implData:
		o.dataAt, o.same = f.number, o.Impl == Address(r.ref)
		f.moved(o, r.ref)
		f.used(o, r.count)
	case slotPoints:
		if r.ref == r.addr {
			f.proved(o)
		}
	case slotDiffers:
		o.facts.differsAt, o.facts.differsTo = f.number, r.ref
		f.eventAt(&o.Life, CheckDiffers, Address(r.ref))
		f.used(o, r.count)
		f.displaced(o)
	case useCount:
		f.used(o, r.count)
	case borrowed:
		o.borrow = true
		f.event(&o.Life, ImplGoes)
	case objectType, slotType:
		if o.Type == "" {
			o.Type = f.typeName(r.typ)
		}
	case preserving:
		f.preserve(o)
	case keptAnyway:
		f.kept(o)
	case deallocating:
		f.deallocate(o)
	}
}

// released begins a release: what was seen in an earlier one is past.
func (o *object) released(interp uint64, line int64) {
	o.release, o.borrow, o.dataAt, o.same = true, false, 0, false
	k := &o.facts
	*k = facts{made: k.made, madeAt: k.madeAt, slotAt: k.slotAt, maker: k.maker, makerAt: k.makerAt}
	if interp != 0 {
		k.releaser, k.releaserAt = interp, line
	}
}

// used is the use count of the impl of an object being released, its own
// reference included.
func (f *follower) used(o *object, n int64) {
	if n < 0 {
		return
	}
	o.facts.uses, o.facts.usesAt = n, f.number
	f.eventCount(&o.Life, UseCount, n)
}

// proved is a line that shows the slot pointing at a living object.
func (f *follower) proved(o *object) {
	o.facts.slotAt = f.number
	if i := f.impls[uint64(o.Impl)]; i != nil && i.second != nil && i.slot != o {
		f.withdraw(i) // the two objects belong to two impls
	}
}

// withdraw takes back that an impl got a second object: there are two impls.
func (f *follower) withdraw(i *impl) {
	i.second.withdrawn = true
	if o := f.objects[uint64(i.second.Object)]; o != nil {
		for n := range o.Events {
			if o.Events[n].Line == i.second.Line {
				o.Events[n].Code = 0
			}
		}
	}
	i.second, i.shared = nil, true
}

// displaced is an object of an impl whose slot has another one.
func (f *follower) displaced(o *object) {
	other := f.objects[o.facts.differsTo]
	if o.facts.differsTo == 0 || o.Made != MadePlain || o.madeGap != f.gaps || o.facts.differsTo == uint64(o.Address) {
		return
	}
	if i := f.impls[uint64(o.Impl)]; i != nil && i.second != nil {
		i.second.Evidence = append(i.second.Evidence, Reason{f.number, fmt.Sprintf("its slot has %v now", Address(o.facts.differsTo))})
		i.second = nil
		return
	}
	v := f.breaks(preserve.SameObject, o, o.Impl, fmt.Sprintf("the slot has %v in its place", Address(o.facts.differsTo)))
	v.Cause = OtherObject
	v.Evidence = []Reason{{f.number, fmt.Sprintf("the slot's check answers %v", Address(o.facts.differsTo))}}
	if other != nil && other.facts.madeAt != 0 {
		v.Evidence = append(v.Evidence, Reason{other.facts.madeAt, "which was made here"})
	}
}

func (f *follower) preserve(o *object) {
	f.event(&o.Life, Preserved)
	f.step(o, preserve.Preserve)
	f.proved(o)
	o.release = false
	if o.Impl != 0 {
		f.impl(uint64(o.Impl)).slot = o
	}
}

// kept is a patched PyTorch that returns from the deallocation of an object
// that it did not preserve.
func (f *follower) kept(o *object) {
	f.event(&o.Life, KeptAnyway)
	o.release = false
	if f.pointedAt(o) && o.facts.uses != 1 {
		v := f.breaks(preserve.OneOwner, o, o.Impl, "")
		v.facts = o.facts
		v.facts.saw = "nobody refers to it, it is not deallocated, and the impl does not own it"
		v.facts.deallocation = true
	}
}

// pointedAt tells whether the log shows that a slot points at the object. What
// it showed before a hole only counts if this release names the same impl:
// another object may be at the address since.
func (f *follower) pointedAt(o *object) bool {
	return (o.Made == MadePlain || o.facts.slotAt != 0) && (o.madeGap == f.gaps || o.same)
}

// deallocate ends an object: rightly if the impl goes with it, or never led to it.
func (f *follower) deallocate(o *object) {
	k := &o.facts
	f.event(&o.Life, Deallocated)
	i := f.impls[uint64(o.Impl)]
	// An impl that is freed lets go of its object. Not every patch says so; then
	// the release of a preserved object has nothing to say of the impl.
	letGo := o.borrow || o.State == preserve.Preserved && o.gap == f.gaps && o.dataAt == 0 && k.usesAt == 0
	o.State = preserve.Dead
	delete(f.objects, uint64(o.Address))
	if i != nil && i.slot == o {
		i.slot = nil
	}
	switch {
	case o.Made == MadeHermetic:
	case letGo || k.usesAt != 0 && k.uses <= 1: // the impl goes as well
		if i != nil && i.freed == nil && i.slot == nil && !i.shared {
			f.event(&i.Life, Freed)
			f.endImpl(i)
		}
	case k.differsTo != 0 && k.differsTo != uint64(o.Address): // its slot leads to another one
	case k.usesAt != 0 && f.pointedAt(o):
		v := f.deallocation(o, f.number)
		o.Events[len(o.Events)-1].Code = v.Code
		f.suspect(i, o, v)
		return
	default: // the log does not tell
		f.suspect(i, o, nil)
		return
	}
	f.ended(o.Life)
}

// deallocation is the violation of this page: the object is gone, and the slot
// of a shared impl points at it.
func (f *follower) deallocation(o *object, line int64) *Violation {
	v := &Violation{Code: preserve.SharedDealloc, Line: line, Object: o.Address, Impl: o.Impl, Type: o.Type, facts: o.facts}
	v.facts.deallocation = true
	f.violations = append(f.violations, v)
	return v
}

// suspect keeps a deallocated object that its impl may lead to.
func (f *follower) suspect(i *impl, o *object, v *Violation) {
	if i == nil || i.Address == 0 || i.slot != nil && i.slot != o {
		f.ended(o.Life)
		return
	}
	f.bury(i)
	i.freed, i.broken = o, v
}

// usedAfter is an impl that leads to its deallocated object.
func (f *follower) usedAfter(i *impl) {
	o := i.freed
	if i.broken == nil {
		for n := len(o.Events) - 1; n >= 0; n-- {
			if e := &o.Events[n]; e.What == Deallocated {
				i.broken = f.deallocation(o, e.Line)
				e.Code = i.broken.Code
				break
			}
		}
	}
	if v := i.broken; v.Consequence == 0 {
		v.Consequence, v.facts.stillAt = f.number, f.number
	}
	f.eventAt(&o.Life, UsedAfter, i.Address)
}

const (
	sweepEvery = 1 << 16 // records
	sweepAbove = 1 << 14 // tensors, or impls without an object
)

// sweep forgets those tensors and impls without an object that were not heard
// of for longest: the log does not show their end.
func (f *follower) sweep() {
	limit := sweepAbove + 4*len(f.objects)
	if len(f.tensors) > limit {
		old := sorted(f.tensors)
		slices.SortStableFunc(old, func(a, b uint64) int { return cmp.Compare(f.tensors[a].last, f.tensors[b].last) })
		for _, at := range old[:len(old)/2] {
			f.ended(f.tensors[at].Life)
			delete(f.tensors, at)
		}
	}
	if len(f.impls) > limit {
		var old []uint64
		for _, data := range sorted(f.impls) {
			if i := f.impls[data]; i.slot == nil && !i.wrap.open {
				old = append(old, data)
			}
		}
		slices.SortStableFunc(old, func(a, b uint64) int { return cmp.Compare(f.impls[a].last, f.impls[b].last) })
		for _, data := range old[:len(old)/2] {
			f.bury(f.impls[data])
			f.endImpl(f.impls[data])
		}
	}
}
