package asserts

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/internal/usual"
)

// WriteBeside is OA015.
const WriteBeside Code = 15

var _ = add(checkRow{
	code:   WriteBeside,
	name:   "write-beside",
	rule:   "in the storage of a written argument only the elements of that argument change",
	breaks: "other views of the storage are overwritten, without a record",
	level:  Content,
	about:  Argument,
	parts:  true,
	plans:  func(_ *Op, on, _ *Subject) bool { return on.Write },
	judges: (*judge).writesBeside,
	usual:  usual.SameImpl | usual.SameStorage | usual.SameMetadata | usual.Filled,
	after:  1<<InputImpl | 1<<InputStorage | 1<<UndeclaredWrite,
	fixes: func(_ *Op, v *Violation) string {
		return fmt.Sprintf("write only the elements of %s, by its sizes, strides and offset", v.Subject.Name)
	},
	skips: []Row{
		{Trait: Storageless, Reason: noStorage},
		{Trait: Contended, Reason: contended},
		{Trait: Unread, Reason: unread},
	},
})

// writesBeside leaves storage of arguments without (a!) to OA009.
func (j *judge) writesBeside() {
	for _, in := range j.inputs {
		storage := in.before.Storage
		if !in.codes.Has(WriteBeside) || in.Inside && !in.before.isStorage() || !in.before.Defined() ||
			j.passesOverContents(WriteBeside, in) {
			continue
		}
		text, known := writtenBeside(in.before.Content, in.after.Content, j.writtenOn(storage))
		if !known {
			j.skipped[Skip{Code: WriteBeside, Reason: "the argument's bytes within the storage were not observed"}]++
			continue
		}
		j.verdict.Judged[WriteBeside]++
		// a missing bump does not explain the bytes
		other := func(v *Violation) bool { return v.Code != VersionBump && v.Before.Storage == storage }
		if text != "" && !slices.ContainsFunc(j.verdict.Violations, other) {
			j.reportInput(WriteBeside, in).Saw = text
		}
	}
}
