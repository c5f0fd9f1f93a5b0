package asserts

import (
	"fmt"
	"slices"
	"strings"
)

// UndeclaredWrite is OA009.
const UndeclaredWrite Code = 9

var _ = add(check{
	code:   UndeclaredWrite,
	name:   "undeclared-write",
	rule:   "an argument without (a!) keeps its bytes, its metadata and its version",
	breaks: "functionalization and compilers may drop or reorder this write; autograd may have saved the old value",
	level:  Content,
	about:  Argument,
	plans:  func(_ *Op, on, _ *Subject) bool { return !on.Write },
	judges: (*judge).undeclaredWrites,
	after:  1 << InputStorage,
	fixes:  fixUndeclaredWrite,
	skips: []Row{
		{Trait: Storageless, Reason: noStorage},
		{Trait: Contended, Reason: contended},
	},
	parts: true,
})

// contended is why a check on contents is skipped for a storage that was not
// read.
const contended = "another goroutine's call held the storage"

// undeclaredWrites takes bytes to belong to a storage and metadata to a
// TensorImpl: of the arguments that share one, the first is reported.
func (j *judge) undeclaredWrites() {
	storages, impls, raised := make(map[ID]bool), make(map[ID]bool), make(map[ID]bool)
	for i := range j.inputs {
		in := &j.inputs[i]
		if !in.codes.Has(UndeclaredWrite) || !in.before.Defined() || in.newStorage {
			continue
		}
		if j.sharesWritten(in) {
			j.skipped[Skip{Code: UndeclaredWrite, Reason: "storage shared with a written argument"}]++
			continue
		}
		b, a := in.before.Content, in.after.Content
		if in.before.Impl != in.after.Impl || !j.seesContents(UndeclaredWrite, in) {
			continue
		}
		var saw []string
		if text := changedBytes(b, a); text != "" && !storages[in.before.Storage] {
			saw = append(saw, text, versions(in))
			raised[in.before.Storage] = true
		} else if in.before.Version != in.after.Version && !raised[in.before.Storage] {
			saw = append(saw, versions(in))
			raised[in.before.Storage] = true
		}
		if !impls[in.before.Impl] {
			saw = append(saw, changedMetadata(b, a)...)
		}
		storages[in.before.Storage], impls[in.before.Impl] = true, true
		if len(saw) > 0 {
			v := j.reportInput(UndeclaredWrite, in)
			v.Saw = strings.Join(saw, ", ")
		}
	}
}

// sharesWritten reports whether an argument that the op may write was, or
// comes to be, on the same storage.
func (j *judge) sharesWritten(in *input) bool {
	return slices.ContainsFunc(j.byStorage[in.before.Storage], func(other *input) bool { return other.Write })
}

func fixUndeclaredWrite(op *Op, v *Violation) string {
	on := op.at(v.Subject)
	if on.Inside {
		return fmt.Sprintf("leave %s alone: work on a clone", strings.TrimPrefix(v.Subject.String(), "argument "))
	}
	sets := on.sets()
	if len(sets) == 0 {
		sets = []string{op.freeSet()}
	}
	fix := annotate(v.Subject, on.spell(sets[:1], true))
	switch before, after := v.Before.Content, v.After.Content; {
	case changedBytes(before, after) != "":
	case len(changedMetadata(before, after)) == 0:
		fix = fmt.Sprintf("call no in-place op on %s, nor raise its version; or annotate: %s", v.Subject.Name, fix)
	default:
		fix = fmt.Sprintf("change the metadata of a view of %s; or annotate: %s", v.Subject.Name, fix)
	}
	return fix
}
