package asserts

import (
	"fmt"
	"slices"
)

// VersionBump is OA010.
const VersionBump Code = 10

var _ = add(check{
	code:   VersionBump,
	name:   "version-bump",
	rule:   "an argument that was written has a higher version afterwards",
	breaks: "autograd cannot see that a tensor saved for backward was overwritten: silently wrong gradients",
	level:  Content,
	about:  Argument,
	plans:  func(_ *Op, on, _ *Subject) bool { return on.Write },
	judges: (*judge).versionBumps,
	after:  1 << InputImpl,
	fixes:  fixVersionBump,
	skips: []Row{
		{Trait: Storageless, Reason: noStorage},
		{Trait: NoVersion, Reason: "no version counter"},
		{Trait: Contended, Reason: contended},
	},
})

// versionBumps lets pass a written argument whose storage is also reached by
// another written one, whose version rose: it was written through that one.
func (j *judge) versionBumps() {
	reported := make(map[ID]bool)
	for i := range j.inputs {
		in := &j.inputs[i]
		storage := in.before.Storage
		if !in.codes.Has(VersionBump) || !in.before.Defined() || in.newImpl || reported[storage] {
			continue
		}
		b, a := in.before.Content, in.after.Content
		if in.after.Storage != storage || !j.seesContents(VersionBump, in) {
			continue
		}
		text := overwritten(b, a)
		if text == "" || slices.ContainsFunc(j.byStorage[storage], (*input).bumped) {
			continue
		}
		reported[storage] = true
		v := j.reportInput(VersionBump, in)
		v.Saw = text + ", " + versions(in)
	}
}

// bumped reports whether a written argument's version rose. The counter wraps.
func (in *input) bumped() bool {
	return in.Write && int32(in.after.Version-in.before.Version) > 0
}

func fixVersionBump(_ *Op, v *Violation) string {
	return fmt.Sprintf("raise the version of %s where it is written", v.Subject.Name)
}
