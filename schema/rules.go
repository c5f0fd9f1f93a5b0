package schema

import (
	"slices"
	"strings"
)

// checkRandom warns about an op that looks random but lacks the tag. The names that count as
// random, and the exempt ops, differ between versions: these are the rules that all have in common,
// and those of versions with pt2_compliant_tag.
func (r *reader) checkRandom(e *entry) {
	if slices.Contains(e.op.Tags, seededTag) {
		return
	}
	f := &e.op.Func
	name := f.Name.String()
	dropout := strings.Contains(name, "dropout")
	if r.tags != nil && r.tags.has(compliantTag) {
		named := func(a Argument) bool { return strings.Contains(a.Name, "dropout") }
		dropout = dropout || slices.ContainsFunc(f.Args, named)
	}
	dropout = dropout && !strings.Contains(name, "backward") && f.Name.Root() != "_cudnn_init_dropout_state"
	random := strings.Contains(name, "rand") && !strings.Contains(name, "_philox_")
	generator := slices.ContainsFunc(f.Args, func(a Argument) bool { return a.Type.is("Generator") })
	if random || dropout || generator {
		r.warnAt(e.op.Pos, "%s is random, by its name or its arguments: tags: %s", name, seededTag)
	}
}

const seededTag = "nondeterministic_seeded"

// checkDuplicates reports ops of one name, and ops that differ only in their overload names.
func (r *reader) checkDuplicates(entries []*entry) {
	r.named = make(map[string]*Op, len(entries))
	for _, e := range entries {
		if e.op == nil {
			continue
		}
		if first := r.named[e.op.Name()]; first != nil {
			r.ReportAt(e.op.Pos, "%s is defined twice, first in line %d", e.op.Name(), first.Pos.Line)
		} else {
			r.named[e.op.Name()] = e.op
		}
	}
}

// checkInplaceViews requires a view variant of each in-place view.
//
// Source: torchgen/gen.py, error_check_native_functions.
func (r *reader) checkInplaceViews(entries []*entry) {
	roots := make(map[string]bool, len(entries))
	for _, e := range entries {
		roots[e.op.Namespace+"::"+e.op.Func.Name.Root()] = true
	}
	for _, e := range entries {
		name := e.op.Func.Name
		view := Name{Base: name.Base, Dunder: name.Dunder}
		switch {
		// See Note [resize_ is not a view]; set_ has no view variant either.
		case !slices.Contains(e.op.Tags, inplaceViewTag) || isResize(name) || name.Root() == "set_":
		case !name.Inplace:
			r.ReportAt(e.op.Pos, "%s has the tag %s, but its name does not end in _", name, inplaceViewTag)
		case !roots[e.op.Namespace+"::"+view.String()]:
			r.ReportAt(e.op.Pos, "%s has the tag %s, so the file must have its out-of-place view %s; "+
				"an op without one is not tagged, and is allowed to violate OA013", name, inplaceViewTag, view)
		}
	}
}
