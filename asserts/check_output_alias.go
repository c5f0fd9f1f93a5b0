package asserts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/usual"
)

// OutputAlias is OA008.
const OutputAlias Code = 8

var _ = add(checkRow{
	code:   OutputAlias,
	name:   "output-alias",
	rule:   "two returns share nothing unless the schema declares a common alias set for them",
	breaks: "an in-place write to one silently changes the other; compilers assume that they are independent",
	level:  Identity,
	about:  Return | AgainstReturn,
	plans:  plansOutputAlias,
	judges: (*judge).outputAliases,
	usual:  usual.OffReturns,
	after:  1<<ReturnedSelf | 1<<ViewStorage,
	fixes: func(_ *Op, v *Violation) string {
		return fmt.Sprintf("clone %s before returning", strings.TrimPrefix(v.Subject.String(), "result "))
	},
	inPython: "return a new tensor: one that wraps the op's results for the inner tensors",
	skips:    reliable,
	parts:    true,
})

// plansOutputAlias compares a return with those before it, with all written ones, and within a list.
func plansOutputAlias(_ *Op, on, against *Subject) bool {
	if on.Write || mayShare(on, against) || mayShare(against, on) {
		return false
	}
	if on.Index == against.Index {
		return on.List
	}
	return against.Index < on.Index || against.Write
}

// outputAliases leaves storage of an argument to OA007. Of several returns that share, all stand against the first.
func (j *judge) outputAliases() {
	for _, out := range j.outputs {
		if !out.Defined() || out.codes.Has(OutputAlias) && !j.judged(OutputAlias, &out.Observation) {
			continue
		}
		if j.byImpl[out.Impl] != nil || j.byStorage[out.Storage] != nil ||
			len(j.over(&out.Observation))+len(j.counting(&out.Observation)) > 0 {
			continue
		}
		if peer := j.peer(out, j.outByImpl[out.Impl]); peer != nil {
			peer.aliased = true
			j.reportAlias(OutputAlias, out, peer.place(), peer.Observation, "TensorImpl")
		} else if peer := j.peer(out, j.outByStorage[out.Storage]); peer != nil {
			peer.aliased = true
			j.reportAlias(OutputAlias, out, peer.place(), peer.Observation, "StorageImpl")
		} else if peer := j.peer(out, j.outputsBefore(out, overlaps)); peer != nil {
			peer.aliased = true
			j.reportAlias(OutputAlias, out, peer.place(), peer.Observation, "memory")
		} else if peer := j.peer(out, j.outputsBefore(out, counts)); peer != nil {
			peer.aliased = true
			j.reportAlias(OutputAlias, out, peer.place(), peer.Observation, "version counter")
		}
	}
}

func (j *judge) outputsBefore(out *output, shares func(a, b *Observation) bool) []*output {
	var outs []*output
	for _, peer := range j.outputs {
		if peer == out {
			break
		}
		if shares(&out.Observation, &peer.Observation) {
			outs = append(outs, peer)
		}
	}
	return outs
}

// peer returns the first of the sharers before out that out must not share with.
func (j *judge) peer(out *output, sharers []*output) *output {
	for _, peer := range sharers {
		if peer == out {
			return nil
		}
		apart := slices.Contains(out.against[OutputAlias], peer.result) ||
			slices.Contains(peer.against[OutputAlias], out.result)
		if !apart || out.wrong || peer.wrong {
			continue
		}
		if j.passesOver(OutputAlias, &out.Observation, &peer.Observation) {
			continue
		}
		return peer
	}
	return nil
}
