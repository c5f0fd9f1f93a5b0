package model

import (
	"cmp"
	"slices"
)

// Collect deallocates the objects of ctx's interpreter that only each other
// refer to. An object that would be preserved if it were released stays, for
// the impl's other holders can still ask for it. So does what it refers to: it
// is not traversed, and the collector takes its references for outside ones.
//
// Source: THPVariable_subclass_traverse, THPVariable_clear; CPython's gcmodule.c.
func (m *Machine) Collect(ctx Context) {
	garbage := m.unreachable(ctx)
	ran := false
	for _, o := range garbage {
		if o.finalize != nil && o.finalized == 0 {
			m.runFinalizer(o)
			ran = true
		}
	}
	if ran { // a finalizer may have taken references
		garbage = m.unreachable(ctx)
	}
	serials := make([]uint64, len(garbage))
	for i, o := range garbage {
		serials[i] = o.serial
	}
	for i, o := range garbage {
		if o.serial != serials[i] {
			continue // deallocated with an earlier one
		}
		o.refs++
		clearHolds(m, ctx, o)
		m.Decref(ctx, o.at)
	}
}

// unreachable returns the objects that no outside reference leads to and that do not stay, oldest
// first.
func (m *Machine) unreachable(ctx Context) []*object {
	all := m.objects(ctx.Interp)
	outside := make(map[*object]int32, len(all)) // references that no traversed object explains
	for _, o := range all {
		outside[o] = o.refs
	}
	for _, o := range all {
		if m.protocol.untraversed(ctx, o) {
			continue
		}
		for _, b := range o.holds {
			outside[m.at(b)]--
		}
	}
	reached := make(map[*object]bool, len(all))
	var visit func(*object)
	visit = func(o *object) {
		if reached[o] {
			return
		}
		reached[o] = true
		for _, b := range o.holds {
			visit(m.at(b))
		}
	}
	for _, o := range all {
		if outside[o] > 0 {
			visit(o)
		}
	}
	return slices.DeleteFunc(all, func(o *object) bool { return reached[o] || m.protocol.stays(ctx, o) })
}

// objects returns the living objects of an interpreter, oldest first.
func (m *Machine) objects(i Interp) []*object {
	all := slices.DeleteFunc(slices.Clone(m.heap), func(o *object) bool { return o.serial == 0 || o.made.Interp != i })
	slices.SortFunc(all, func(a, b *object) int { return cmp.Compare(a.serial, b.serial) })
	return all
}
