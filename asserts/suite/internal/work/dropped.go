package work

import (
	"fmt"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// unfollowed is the skip of a check that writes do not go to a copy for some values.
var unfollowed = asserts.Skip{
	Code: asserts.SchemaLint, Count: 1,
	Reason: fmt.Sprintf("the copies that the kernel makes of an argument were not tracked: they were in %d calls that did not change one", mostSettings),
}

// dropped returns the arguments that a call should write and does not change, although it writes a
// copy that is never read: with other values it may write them.
func (r *Runner) dropped(t *Target, a *attempt) (faults []asserts.Fault, skips []asserts.Skip) {
	e, ok := r.Engine.(engine.CopyTracker)
	left := make(map[string]bool)
	for _, w := range compare.WritesOf(t.judged, a.calls[0].seen) {
		if !w.Changed {
			left[t.operator.Schema.Func.Args[w.Arg].Name] = true
		}
	}
	if !ok || !e.HasRules() || !t.operator.Added || len(left) == 0 {
		return nil, nil
	}
	if t.unwrittenCalls == mostSettings {
		return nil, []asserts.Skip{unfollowed}
	}
	t.unwrittenCalls++
	r.callAside(t, a.c, engine.Rules, "kernel, followed", func(args []any) *aside {
		for argument, site := range e.LostWrites(t.judged, args) {
			if left[argument] {
				faults = append(faults, droppedWrite(argument, site))
			}
		}
		return nil
	})
	return faults, nil
}

// droppedWrite returns a note about an argument whose write goes to a copy for some values.
func droppedWrite(argument string, site asserts.Site) asserts.Fault {
	return asserts.Fault{
		Code: asserts.SchemaLint, Argument: argument, Site: site,
		Saw:    "the call does not change it, and writes a copy of it that is never read",
		Fix:    "write the argument itself, as x[mask] = value does, or copy the result back: indexing with a tensor and reshape() return a copy",
		Breaks: "for such values the tensor keeps its old contents, without an error",
		Note:   "the copy may be read without an op",
	}
}
