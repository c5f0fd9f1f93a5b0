package trace

import (
	"cmp"
	"slices"

	"github.com/opassert/opassert/asserts/preserve"
)

// followObject applies a record about an object: its last reference is released.
func (f *follower) followObject(r *logRecord) {
	if r.message == allocated {
		f.reuse(r.addr)
		return
	}
	if d := f.dead[r.addr]; d != nil && d.gap == f.gaps && f.objects[r.addr] == nil {
		f.afterDeallocation(d, r)
		return
	}
	o := f.meet(r.addr, 0)
	switch r.message {
	case enterDealloc:
		f.event(&o.Life, Released)
		o.released(r.interp, f.number)
		o.enterGap = f.gaps
		f.otherInterpreter(o)
	case enter:
		if r.interp != 0 && o.facts.releaser == 0 {
			o.facts.releaser, o.facts.releaserAt = r.interp, f.number
			f.otherInterpreter(o)
		}
	case isHermetic:
		o.facts.hermeticAt = f.number
		f.event(&o.Life, ReleasedHermetic)
	case slotHas:
		o.facts.tag, o.facts.tagAt = r.tag, f.number
		f.context++
		f.otherInterpreter(o)
		if r.ref == r.addr {
			o.facts.answersAt = f.number
			f.confirmSlot(o)
		} else {
			f.replaceSlot(o, r.ref)
		}
	case notMarked:
		o.facts.notMarkedAt = f.number
	case slotHasNone:
		o.facts.noneAt = f.number
		f.event(&o.Life, CheckNone)
	case slotOwns:
		if !o.borrow {
			f.breaks(preserve.OneOwner, o, o.Impl, "released by its last holder, and the impl owns it too")
		}
	case implData:
		o.dataAt, o.same = f.number, o.Impl == r.ref
		f.locate(o, r.ref)
		f.moveBytes(o, r.ref)
		f.countUses(o, r.count)
	case slotPoints:
		if r.ref == r.addr {
			f.confirmSlot(o)
		}
	case slotDiffers:
		o.facts.differsAt, o.facts.differsTo = f.number, r.ref
		f.eventAt(&o.Life, CheckDiffers, r.ref)
		f.countUses(o, r.count)
		f.displace(o)
	case useCount: // only asked for when the slot's check answers with the object
		f.countUses(o, r.count)
		o.facts.answersAt = f.number
		f.confirmSlot(o)
	case borrowed:
		f.event(&o.Life, ImplGoes)
		o.borrow = true
		switch {
		case f.protocol == preserve.Counting:
			f.breaks(preserve.OneOwner, o, o.Impl, "does not own its impl, though in this PyTorch ownership does not flip")
		case o.State == preserve.Holding && o.gap == f.gaps:
			f.breaks(preserve.OneOwner, o, o.Impl, "released as if the impl owned it while %s", stands[o.State]).
				because("", says(o.stateAt, "since here %s", stands[o.State]))
		default:
			f.confirmSlot(o) // its impl found it in its slot
		}
	case objectType:
		o.Type = typeName(r.typ)
	case slotType:
		if o.Type == "" {
			o.Type = typeName(r.typ)
		}
	case preserving:
		f.preserve(o)
	case notDeallocated:
		f.notDeallocated(o)
	case deallocating:
		f.deallocate(o)
	}
}

// released starts a release, without the facts of an earlier one.
func (o *object) released(interp Address, line int64) {
	o.release, o.enterAt, o.borrow, o.dataAt, o.same, o.broken = true, line, false, 0, false, nil
	k := &o.facts
	*k = causeLines{made: k.made, madeAt: k.madeAt, slotAt: k.slotAt, maker: k.maker, makerAt: k.makerAt}
	if interp != 0 {
		k.releaser, k.releaserAt = interp, line
	}
}

// countUses handles the use count of the impl of an object being released, its own
// reference included. An impl that releases the object that it owns has none left.
func (f *follower) countUses(o *object, n int64) {
	if n < 0 {
		return
	}
	k := &o.facts
	k.uses, k.usesAt = n, f.number
	f.eventCount(&o.Life, UseCount, n)
	if o.broken != nil || !o.release || o.Made == MadeHermetic || !f.pointedAt(o) {
		return
	}
	code, lives := preserve.DoubleRelease, "the impl is shared, use count %d"
	saw := "its last reference is released, though the impl, which others hold, has one"
	switch counting := f.protocol == preserve.Counting; {
	case counting && n < 2, !counting && (n < 1 || !o.borrow):
		return
	case !counting:
		saw = "its last reference is released, though only the impl, which lives, has one"
		lives = "the impl lives, use count %d"
	}
	if k.known = TooManyReleases; k.notMarkedAt != 0 {
		k.known = NotMarked
		code = preserve.OneOwner
		saw = "its last reference is released, for the impl, which others hold, is not marked to have one"
	}
	v := f.breaksAt(code, o.enterAt, o, o.Impl, saw)
	v.because(k.known, says(o.enterAt, "released"), says(k.notMarkedAt, "the impl is not marked"),
		says(k.usesAt, lives, n))
	for i := range o.Events {
		if e := &o.Events[i]; e.Line == v.Line && e.What == Released {
			e.Code = v.Code
		}
	}
	o.broken = v
}

// otherInterpreter reports a release by an interpreter that does not have the object:
// PyTorch raises an error then, in the middle of the deallocation.
func (f *follower) otherInterpreter(o *object) {
	k := &o.facts
	if o.broken != nil || k.releaser == 0 || o.Made == MadeHermetic {
		return
	}
	saw, first := "made by interpreter %v, released by %v", says(k.makerAt, "made by interpreter %v", k.maker)
	has := k.maker
	if has == 0 || has == k.releaser || o.madeGap != f.gaps {
		saw, first = "its slot is tagged %v, released by interpreter %v", says(k.tagAt, "the slot is tagged %v", k.tag)
		has = k.tag
	}
	if has != 0 && has != k.releaser {
		o.broken = f.breaks(preserve.OneInterpreter, o, o.Impl, saw, has, k.releaser).
			because(InterpreterClash, first, says(k.releaserAt, "released by interpreter %v", k.releaser))
	}
}

// confirmSlot handles a line that shows the slot of a living object's impl pointing at it.
func (f *follower) confirmSlot(o *object) {
	o.facts.slotAt = f.number
	o.settle(func(d *doubt) (bool, bool) {
		if d.was != o {
			return false, false
		}
		if i := f.impls[d.data]; i != nil {
			f.markShared(i) // two objects, two impls
		}
		return false, true
	})
}

// replaceSlot handles a line that shows another object in the slot of an object's impl; 0
// means none, or one that is not in the log.
func (f *follower) replaceSlot(o *object, at Address) (known bool) {
	o.settle(func(d *doubt) (bool, bool) {
		if d.was != o || d.now.Address != at {
			return false, false
		}
		d.Evidence = append(d.Evidence, says(f.number, "the slot of %v has %v now", o.Address, at))
		o.slotTaken, known = true, true
		return true, true
	})
	return known
}

// locate handles a line that shows the address of the bytes of an object's impl.
func (f *follower) locate(o *object, data Address) {
	o.settle(func(d *doubt) (bool, bool) {
		switch {
		case d.was == o:
			return false, data != d.data // it moved away, and the slot is another impl's
		case d.home == 0 || data != d.home && data != d.data:
			return false, false
		}
		if data == d.home {
			d.Evidence = append(d.Evidence, says(f.number, "%v is still the object of impl %v", o.Address, data))
		}
		return data == d.home, true
	})
}

// displace handles an object of an impl whose slot has another one.
func (f *follower) displace(o *object) {
	if o.facts.differsTo == 0 || o.Made != MadePlain || o.madeGap != f.gaps || o.facts.differsTo == o.Address {
		return
	}
	if f.replaceSlot(o, o.facts.differsTo) || o.slotTaken {
		return
	}
	var madeAt int64
	if other := f.objects[o.facts.differsTo]; other != nil {
		madeAt = other.facts.madeAt
	}
	f.breaks(preserve.SameObject, o, o.Impl, "the slot has %v in its place", o.facts.differsTo).
		because(OtherObject, says(f.number, "the slot's check answers %v", o.facts.differsTo),
			says(madeAt, "which was made here"))
}

func (f *follower) preserve(o *object) {
	f.context++
	f.event(&o.Life, Preserved)
	if o.Made == MadeHermetic && o.madeGap == f.gaps {
		f.breaks(preserve.Hermetic, o, o.Impl, "preserved, and so in a slot, though made in a hermetic context").
			because(HermeticState, says(o.facts.madeAt, "made in a hermetic context"))
	}
	f.step(o, preserve.Preserve)
	f.confirmSlot(o)
	o.release = false
	if o.Impl != 0 {
		f.impl(o.Impl).slot = o
	}
}

// notDeallocated handles a return from the deallocation of an object that was not preserved, as of a patched PyTorch.
func (f *follower) notDeallocated(o *object) {
	f.event(&o.Life, NotDeallocated)
	o.release = false
	if f.pointedAt(o) && o.facts.uses != 1 {
		v := f.breaks(preserve.OneOwner, o, o.Impl, "")
		v.facts = o.facts
		v.facts.saw = "nothing refers to it, it is not deallocated, and the impl does not own it"
		v.facts.deallocation = true
		v.root = o.broken
	}
}

// pointedAt reports whether the log shows that a slot points at the object. A line before a hole only counts if this
// release names the same impl: another object may be at the address since.
func (f *follower) pointedAt(o *object) bool {
	return (o.Made == MadePlain || o.facts.slotAt != 0) && (o.madeGap == f.gaps || o.same)
}

// deallocate ends an object: correctly if its impl is freed with it, or never pointed at it.
func (f *follower) deallocate(o *object) {
	k := &o.facts
	f.event(&o.Life, Deallocated)
	i := f.impls[o.Impl]
	// A freed impl releases its object. Not every patch logs that; then the release
	// of a preserved object names no impl.
	letGo := o.borrow && k.uses == 0 || o.State == preserve.Preserved && o.gap == f.gaps && o.dataAt == 0 && k.usesAt == 0
	o.State, o.release, o.gap = preserve.Dead, false, f.gaps
	delete(f.objects, o.Address)
	d := &death{object: *o, line: f.number, freedByImpl: letGo}
	d.Events, d.doubts, d.broken = nil, nil, nil
	f.dead[o.Address] = d
	if i != nil && i.slot == o {
		i.slot = nil
	}
	switch {
	case o.Made == MadeHermetic:
	case letGo, k.usesAt != 0 && k.uses <= 1 && !o.borrow: // the impl is freed too
		if i != nil && i.freed == nil && i.slot == nil && !i.shared {
			f.event(&i.Life, Freed)
			f.endImpl(i)
		}
	case k.differsTo != 0 && k.differsTo != o.Address: // its slot points to another one
	case k.usesAt != 0 && f.pointedAt(o):
		v := f.deallocation(o, f.number)
		o.Events[len(o.Events)-1].Code = v.Code
		d.broken = v
		f.suspect(i, o, v)
		return
	default: // the log does not show it
		f.suspect(i, o, nil)
		return
	}
	f.endLife(o.Life)
}

// deallocation records the main violation: the object is deallocated, and the slot of a shared impl points at it.
func (f *follower) deallocation(o *object, line int64) *InvariantViolation {
	v := f.breaksAt(preserve.SharedDealloc, line, o, o.Impl, "")
	v.root, v.facts = o.broken, o.facts
	v.facts.deallocation = true
	if f.protocol == preserve.Counting && v.facts.known == "" {
		v.facts.known = TooManyReleases
	}
	return v
}

// cutOff handles the end of the log in the middle of a release with a known outcome:
// the slot's check did not answer with the object.
func (f *follower) cutOff(o *object, cutAt int64) {
	k := &o.facts
	if !o.release || o.enterGap != f.gaps || k.differsAt == 0 || k.differsTo != 0 || k.uses < 2 ||
		o.Made == MadeHermetic || !f.pointedAt(o) {
		return
	}
	f.number = max(cutAt, k.usesAt)
	v := f.deallocation(o, f.number)
	v.facts.saw = "not preserved while others hold the impl, whose slot points at it; " +
		"the log ends before it is deallocated"
	f.event(&o.Life, Breaks)
	o.Events[len(o.Events)-1].Code = v.Code
}

// afterDeallocation handles a line about a deallocated object.
func (f *follower) afterDeallocation(d *death, r *logRecord) {
	switch {
	case d.again != nil && r.message == deallocating:
		v := f.breaksAt(preserve.UseAfter, f.number, &d.object, d.Impl, "deallocated again")
		v.root = d.again
		d.again = nil
	case d.broken != nil: // it follows from that release
	case r.message == enterDealloc || r.message == deallocating:
		v := f.breaksAt(preserve.DoubleRelease, f.number, &d.object, d.Impl, "released again after it was deallocated")
		d.broken = v.because("", says(d.line, "deallocated"), says(d.enterAt, "the release before this one"))
		if r.message == enterDealloc {
			d.again = v
		}
	}
}

func (f *follower) staleSlot(i *impl, d *death) {
	v := d.broken
	switch {
	case v != nil:
	case d.freedByImpl && d.Impl == i.Address && d.enterAt != 0 && d.facts.hermeticAt == 0:
		// The impl did not release it, as the impl lives.
		root := f.breaksAt(preserve.DoubleRelease, d.enterAt, &d.object, d.Impl,
			"released though only the impl, which lives, referred to it")
		root.because("", says(d.facts.slotAt, "preserved: the impl owns it"),
			says(f.number, "the impl lives, and its slot points at the object"))
		v = f.breaksAt(preserve.SharedDealloc, d.line, &d.object, d.Impl, "deallocated while the impl that owns it lives")
		v.root, v.Evidence = root, root.Evidence
	default:
		v = f.breaksAt(preserve.UseAfter, f.number, &d.object, i.Address, "a slot points at an object that is deallocated")
		v.because("", says(d.line, "deallocated"))
	}
	d.broken, i.wrap.stale = v, v
	if v.Consequence == 0 {
		v.Consequence, v.Tensor, v.facts.stillAt = f.number, i.asker, f.number
	}
}

// suspect records a deallocated object that its impl may still point at.
func (f *follower) suspect(i *impl, o *object, v *InvariantViolation) {
	if i == nil || i.Address == 0 || i.slot != nil && i.slot != o {
		f.endLife(o.Life)
		return
	}
	f.forgetFreed(i)
	i.freed, i.broken = o, v
}

// usedAfter handles an impl that points at its deallocated object.
func (f *follower) usedAfter(i *impl) {
	o := i.freed
	if i.broken == nil {
		for n := len(o.Events) - 1; n >= 0; n-- {
			if e := &o.Events[n]; e.What == Deallocated {
				i.broken = f.deallocation(o, e.Line)
				e.Code = i.broken.Code
				if d := f.dead[o.Address]; d != nil {
					d.broken = i.broken
				}
				break
			}
		}
	}
	if v := i.broken; v.Consequence == 0 {
		v.Consequence, v.Tensor, v.facts.stillAt = f.number, i.asker, f.number
	}
	f.eventAt(&o.Life, UsedAfter, i.Address)
}

const (
	sweepEvery = 1 << 16 // records
	sweepAbove = 1 << 14 // tensors, or impls without an object
	deadAbove  = 1 << 17 // deaths without a violation
)

// sweep drops the tensors, impls without an object and deaths that were not mentioned
// for the longest time. Dangling pointers stay.
func (f *follower) sweep() {
	limit := sweepAbove + 4*len(f.objects)
	for _, at := range oldest(f.tensors, limit, func(t *tensor) (int64, bool) { return t.last, true }) {
		f.endLife(f.tensors[at].Life)
		delete(f.tensors, at)
	}
	alone := func(i *impl) (int64, bool) { return i.last, i.slot == nil && i.broken == nil && !i.wrap.open }
	for _, data := range oldest(f.impls, limit, alone) {
		f.forgetFreed(f.impls[data])
		f.endImpl(f.impls[data])
	}
	for _, at := range oldest(f.dead, deadAbove, func(d *death) (int64, bool) { return d.line, d.broken == nil }) {
		delete(f.dead, at)
	}
}

// oldest returns the older half of the droppable ones, if there are more than most.
func oldest[T any](all map[Address]T, most int, since func(T) (at int64, drops bool)) []Address {
	if len(all) <= most {
		return nil
	}
	last := make(map[Address]int64)
	for key, v := range all {
		if at, drops := since(v); drops {
			last[key] = at
		}
	}
	old := sorted(last)
	slices.SortStableFunc(old, func(a, b Address) int { return cmp.Compare(last[a], last[b]) })
	return old[:len(old)/2]
}
