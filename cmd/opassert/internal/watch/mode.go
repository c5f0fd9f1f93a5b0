package watch

import (
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
)

const pending = "the pending work of a collective has the tensor until wait_tensor"

// watched are skips besides the rows of the policy: Python has references to the
// results of a subclass before they are counted.
var watched = []asserts.Row{
	{Trait: asserts.DirectSubclass | asserts.WrapperSubclass, Reason: "subclass: use counts are Python's",
		Skip: asserts.CodesOf(asserts.FreshStorage)},
	{Trait: asserts.Pending, Reason: pending, Skip: fresh | asserts.CodesOf(
		asserts.UndeclaredWrite, asserts.VersionBump, asserts.WriteBeside, asserts.KeptArgument)},
}

// inside are the checks that see the storages of a wrapper subclass itself, and not those of its inner tensors.
const inside asserts.Codes = 1<<asserts.UndeclaredAlias | 1<<asserts.OutputAlias

const hidden = "wrapper subclass: its inner tensors are not visible"

// answeredView returns the reason why a view of a subclass that is in other memory than its base is a note, or "".
func answeredView(op *watchedOp, seen *asserts.Seen, v *asserts.Violation) string {
	wrapper := having(asserts.WrapperSubclass)
	of, in := slices.ContainsFunc(seen.Before, wrapper), slices.ContainsFunc(seen.Results, wrapper)
	switch {
	case v.Code != asserts.ViewStorage || !of && !in:
		return ""
	case of != in:
		return "the view is of another class than its base"
	case op.name == "aten::detach" || op.name == "aten::alias":
		return "a subclass may answer detach() and alias() with a storage of its own"
	}
	return ""
}

func having(trait asserts.Traits) func(asserts.Observation) bool {
	return func(o asserts.Observation) bool { return o.Traits&trait != 0 }
}

// fresh are the checks of the use counts of returns.
const fresh asserts.Codes = 1<<asserts.FreshImpl | 1<<asserts.FreshStorage

// declared are PyTorch's own modes that keep no results.
var declared = map[string]asserts.Codes{
	"torch.utils._python_dispatch._TorchDispatchStackMode": 0, // of 1.13: it calls its stack's modes, which are listed
}

// mode reads the watcher's record of an active mode: its class and, if declared, the
// codes of the checks that it invalidates.
func mode(line string) asserts.Mode {
	name, codes, ok := strings.Cut(line, "\x1f")
	m := asserts.Mode{Name: name, Invalidates: fresh} // without a declaration it may keep results
	if known, own := declared[name]; own {
		m.Invalidates = known
	}
	if !ok {
		return m
	}
	m.Invalidates = 0
	for _, text := range strings.Fields(codes) {
		if code, ok := asserts.ParseCode(text); ok {
			m.Invalidates |= asserts.CodesOf(code)
		}
	}
	return m
}
