package asserts

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/internal/usual"
)

// VersionBump is OA010.
const VersionBump Code = 10

var _ = add(checkRow{
	code:   VersionBump,
	name:   "version-bump",
	rule:   "an argument that was written has a higher version afterwards",
	breaks: "autograd cannot see that a tensor saved for backward was overwritten: silently wrong gradients",
	level:  Content,
	about:  Argument,
	plans:  func(_ *Op, on, _ *Subject) bool { return on.Write },
	judges: (*judge).versionBumps,
	usual:  usual.SameImpl | usual.SameStorage | usual.SameMetadata | usual.Counted,
	after:  1 << InputImpl,
	fixes: func(_ *Op, v *Violation) string {
		return fmt.Sprintf("raise the version of %s where it is written", v.Subject.Name)
	},
	skips: []Row{
		{Trait: Storageless, Reason: noStorage},
		{Trait: NoVersion, Reason: noVersion},
		{Trait: Contended, Reason: contended},
		{Trait: Unread, Reason: unread},
	},
})

const noVersion = "no version counter"

// versionBumps accepts a written argument without a bump if another written one on its storage has
// one: it was written through that.
func (j *judge) versionBumps() {
	reported := make(map[ID]bool)
	for _, in := range j.inputs {
		storage := in.before.Storage
		if !in.codes.Has(VersionBump) || !in.before.Defined() || in.newImpl || reported[storage] {
			continue
		}
		if in.after.Storage != storage || j.seen.Plain && in.before.Traits&NoVersion != 0 {
			continue // a library in Go may have no versions
		}
		text, known := j.written(in)
		if !known {
			j.skipped[Skip{Code: VersionBump, Reason: "contents of a resized storage not observed"}]++
			continue
		}
		if !j.seesContents(VersionBump, in) || text == "" || slices.ContainsFunc(j.byStorage[storage], (*input).bumped) {
			continue
		}
		reported[storage] = true
		j.reportInput(VersionBump, in).Saw = text + ", " + versions(in)
	}
}

// written returns how a written argument was written, "" if it was not, and reports whether that is
// known. New bytes of a storage are written, unless the op is meant to resize it.
func (j *judge) written(in *input) (text string, known bool) {
	b, a := in.before.Content, in.after.Content
	if b == nil || a == nil {
		return "", true
	}
	text, known = overwritten(b, a)
	if text == "" && a.Nbytes > b.Nbytes && !j.op.reshapes() {
		return fmt.Sprintf("storage of %d bytes resized to %d", b.Nbytes, a.Nbytes), true
	}
	return text, known
}

// bumped reports whether a written argument's version rose. The counter wraps around.
func (in *input) bumped() bool { return in.Write && int32(in.after.Version-in.before.Version) > 0 }
