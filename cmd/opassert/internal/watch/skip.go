package watch

import (
	"cmp"
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts"
)

type opSkip struct {
	op     string
	code   asserts.Code
	reason string
}

func (r *run) skip(op string, code asserts.Code, reason string, n int) {
	if n > 0 {
		r.skips[opSkip{op, code, reason}] += n
	}
}

// addSkips adds the skips of all ops, by op and in sums.
func (r *OpReport) addSkips(skips map[opSkip]int) {
	sums := make(map[asserts.Skip]int)
	for s, n := range skips {
		r.OpSkips = append(r.OpSkips, skipped(s.op, s.code, s.reason, n))
		sums[asserts.Skip{Code: s.code, Reason: s.reason}] += n
	}
	slices.SortFunc(r.OpSkips, func(a, b asserts.Result) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Reason, b.Reason))
	})
	for _, s := range slices.SortedFunc(maps.Keys(sums), func(a, b asserts.Skip) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Reason, b.Reason))
	}) {
		s.Count = sums[s]
		r.Skips = append(r.Skips, s)
	}
}

func skipped(op string, code asserts.Code, reason string, n int) asserts.Result {
	return asserts.Result{Op: op, Code: code, Status: asserts.Skipped, Count: n, Reason: reason}
}

// The reasons why contents of a call, or nothing of it, were seen.
const (
	faked      = "calls were answered by fakes, for a compiler that traced: they do not show the kernels"
	failed     = "calls raised an error of their own"
	lost       = "calls of which an argument was freed during the call"
	sampledOut = "calls not in the sample for content"
	tooLarge   = "calls on storages too large for content"
	ofSubclass = "calls on tensors of subclasses or under modes, without content"
	ofAbove    = "calls seen above autograd alone, without content"
)

// unseen are the calls that were not judged, or not on contents, by reason.
func (c *countsOf) unseen() map[string]int64 {
	return map[string]int64{
		failed: c.failed, faked: c.faked, lost: c.lost, sampledOut: c.sampledOut, tooLarge: c.tooLarge,
		ofSubclass: c.subclass, ofAbove: c.aboveAutograd,
	}
}

// ofContent are the checks that ask for contents: at the level identity those too that compare memory.
func ofContent(codes asserts.Codes) asserts.Codes {
	return codes&asserts.CodesOf(asserts.FreshStorage, asserts.UndeclaredAlias, asserts.OutputAlias) | atContent(codes)
}

// atContent are those that ask for contents at each level.
func atContent(codes asserts.Codes) (content asserts.Codes) {
	for code := range codes.All() {
		if code.Level() >= asserts.Content {
			content |= asserts.CodesOf(code)
		}
	}
	return content
}

// withoutContent returns the skips of the calls of an op whose contents were not observed.
func withoutContent(op *watchedOp, c countsOf) (all []asserts.Result) {
	codes := op.judged.Codes()
	planned := codes
	for _, s := range op.unseen {
		planned |= asserts.CodesOf(s.Code)
	}
	others := map[string]asserts.Codes{
		faked: planned, lost: planned, failed: codes & asserts.CodesOf(asserts.UndeclaredWrite),
	}
	for reason, n := range c.unseen() {
		skips, ok := others[reason]
		if !ok {
			skips = ofContent(codes)
		}
		for code := range skips.All() {
			if n > 0 {
				all = append(all, skipped(op.name, code, reason, int(n)))
			}
		}
	}
	return all
}
