package asserts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/usual"
)

// WithinStorage is OA017.
const WithinStorage Code = 17

var _ = add(checkRow{
	code:   WithinStorage,
	name:   "within-storage",
	rule:   "every element of a return lies within its storage",
	breaks: "reading the result reads memory of other objects, and writing it corrupts them",
	level:  Content,
	about:  Return,
	plans:  func(op *Op, _, _ *Subject) bool { return !op.reshapes() },
	judges: (*judge).withinStorages,
	usual:  usual.WithinStorage,
	after:  1<<ReturnedSelf | 1<<ViewStorage | 1<<UndeclaredAlias,
	fixes: func(_ *Op, v *Violation) string {
		return "make the storage as large as the sizes, strides and offset of " +
			strings.TrimPrefix(v.Subject.String(), "result ") + " require, as resize_ does"
	},
	skips: []Row{
		{Trait: Storageless, Reason: noStorage},
		{Trait: MetaTensor, Reason: "meta tensor: it has no memory"},
		{Trait: Contended, Reason: contended},
		{Trait: FunctionalWrapper, Reason: "functional wrapper: it has no bytes of its own"},
		{Trait: WrapperSubclass, Reason: "wrapper subclass: it has no bytes of its own"},
		{Trait: Lazy, Reason: "conj, neg or zero tensor, which may have no bytes"},
	},
})

// withinStorages ignores a return that is an argument which was out of bounds before the call.
func (j *judge) withinStorages() {
	for _, out := range j.outputs {
		if !out.codes.Has(WithinStorage) || !out.Defined() || out.wrong || j.passesOver(WithinStorage, &out.Observation) {
			continue
		}
		if out.Content == nil {
			j.skipped[Skip{Code: WithinStorage, Reason: "contents not observed"}]++
			continue
		}
		first, end, known := out.Content.Extent()
		if !known {
			j.skipped[Skip{Code: WithinStorage, Reason: "the result's bytes within the storage were not observed"}]++
			continue
		}
		j.verdict.Judged[WithinStorage]++
		if out.Content.Within() || j.hadExtent(out) {
			continue
		}
		v := j.reportOutput(WithinStorage, out)
		v.Saw = fmt.Sprintf("%s reaches from byte %d to byte %d of a storage of %d bytes", v.Subject, first, end,
			out.Content.Nbytes)
	}
}

func (j *judge) hadExtent(out *output) bool {
	return slices.ContainsFunc(j.byImpl[out.Impl], func(in *input) bool {
		b := in.before.Content
		return in.before.Impl == out.Impl && b != nil && b.Nbytes == out.Content.Nbytes &&
			len(changedShape(b, out.Content)) == 0
	})
}
