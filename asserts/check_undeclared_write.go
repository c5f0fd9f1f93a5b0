package asserts

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/usual"
)

// UndeclaredWrite is OA009.
const UndeclaredWrite Code = 9

var _ = add(checkRow{
	code:   UndeclaredWrite,
	name:   "undeclared-write",
	rule:   "an argument without (a!) keeps its bytes, its metadata and its version",
	breaks: "functionalization and compilers may drop or reorder this write; autograd may have saved the old value",
	level:  Content,
	about:  Argument,
	plans:  func(_ *Op, on, _ *Subject) bool { return !on.Write },
	judges: (*judge).undeclaredWrites,
	usual:  usual.SameImpl | usual.SameStorage | usual.SameVersion | usual.SameContents | usual.Unshared,
	after:  1 << InputStorage,
	fixes:  fixUndeclaredWrite,
	skips: []Row{
		{Trait: Contended, Reason: contended},
	},
	parts: true,
})

// contended is the reason for skipping a check on contents of a storage that was not read.
const contended = "another goroutine's call held the storage"

// unread is the reason for skipping a check on bytes that were not read.
const unread = "contents unavailable (tensor subclass, or no device-to-host copy, as during graph capture)"

// undeclaredWrites takes bytes and versions as the storage's and metadata as the TensorImpl's: of arguments that share
// one, the first is reported. In a storage that the op may write, it judges bytes that no written argument covers.
func (j *judge) undeclaredWrites() {
	storages, impls, raised := make(map[ID]bool), make(map[ID]bool), make(map[ID]bool)
	for _, in := range j.inputs {
		if !in.codes.Has(UndeclaredWrite) || !in.before.Defined() || in.newStorage {
			continue
		}
		written, elsewhere := j.writtenOn(in.before.Storage), j.writtenOver(in)
		if in.before.Storage == 0 { // it has no bytes, only metadata and parts
			j.skipped[Skip{Code: UndeclaredWrite, Reason: noStorage}]++
			if in.before.Content == nil || in.after.Content == nil {
				continue
			}
		}
		unseen := (in.before.Traits|in.after.Traits)&Unread != 0
		if unseen { // metadata and version are still observed
			j.skipped[Skip{Code: UndeclaredWrite, Reason: unread}]++
		}
		if elsewhere {
			j.skipped[Skip{Code: UndeclaredWrite, Reason: "memory shared with a written argument of another storage"}]++
		}
		if len(written) > 0 {
			j.skipped[Skip{Code: UndeclaredWrite, Reason: "storage shared with a written argument"}]++
		}
		isWritten := func(w *input) bool {
			return w.Write && (w.before.Impl == in.before.Impl || w.after.Impl == in.before.Impl)
		}
		if slices.ContainsFunc(j.inputs, isWritten) || in.before.Impl != in.after.Impl ||
			!j.seesContents(UndeclaredWrite, in) {
			continue
		}
		b, a := in.before.Content, in.after.Content
		text := ""
		switch {
		case elsewhere, unseen:
		case len(written) > 0:
			text, _ = writtenBeside(b, a, written)
		default:
			text = changedBytes(b, a)
		}
		var saw []string
		if text != "" && j.seen.Plain && inCapacity(b, a) {
			text += " behind its elements, in its capacity, where append writes"
		}
		if text != "" && !storages[in.before.Storage] {
			saw = append(saw, text, versions(in))
			raised[in.before.Storage] = true
		} else if len(written) == 0 && !elsewhere && in.before.Version != in.after.Version && !raised[in.before.Storage] &&
			!j.holdsWritten(in) {
			saw = append(saw, versions(in))
			raised[in.before.Storage] = true
		}
		if !impls[in.before.Impl] {
			saw = append(saw, changedMetadata(b, a)...)
		}
		storages[in.before.Storage], impls[in.before.Impl] = true, true
		if len(saw) > 0 {
			j.reportInput(UndeclaredWrite, in).Saw = strings.Join(saw, ", ")
		}
	}
}

// writtenOver reports whether an argument lies in the memory of one that the op may write, under another StorageImpl.
func (j *judge) writtenOver(in *input) bool {
	return slices.ContainsFunc(j.over(&in.after), func(w *input) bool { return w.Write })
}

// holdsWritten reports whether a part of a tensor is on a storage that the op may write: the base
// of a view may wrap the same tensor and have its version counter.
func (j *judge) holdsWritten(in *input) bool {
	return slices.ContainsFunc(j.inputs, func(p *input) bool {
		return p.Inside && p.Index == in.Index && len(j.writtenOn(p.before.Storage)) > 0
	})
}

func (j *judge) writtenOn(storage ID) []*input {
	return slices.DeleteFunc(slices.Clone(j.byStorage[storage]), func(in *input) bool { return !in.Write })
}

// writtenBeside describes the bytes of a storage changed outside of its written arguments, and whether they are known.
func writtenBeside(b, a *Snapshot, written []*input) (text string, known bool) {
	n := min(len(b.Bytes), len(a.Bytes))
	if int64(n) != min(b.Nbytes, a.Nbytes) {
		return "", false
	}
	beside := bytes.Clone(a.Bytes[:n]) // with the covered bytes unchanged
	for _, w := range written {
		for _, at := range [][2]*Snapshot{{w.before.Content, b}, {w.after.Content, a}} {
			c, first := at[0], int64(0) // where the bytes of w begin
			if c != nil && at[1].Memory != 0 {
				first = int64(c.Memory - at[1].Memory)
			}
			if c == nil || !c.Runs(func(from, to int64) {
				from, to = min(max(0, first+from), int64(n)), min(max(0, first+to), int64(n))
				copy(beside[from:to], b.Bytes[from:to])
			}) {
				return "", false
			}
		}
	}
	if changed := unequal(beside, b.Bytes[:n]); changed > 0 {
		text = fmt.Sprintf("%d bytes changed that no written argument covers", changed)
	}
	return text, true
}

// inCapacity reports whether the bytes of a storage changed, but not up to the end of a tensor's elements.
func inCapacity(b, a *Snapshot) bool {
	_, end, known := b.Extent()
	same := func(n int64) bool {
		return n <= int64(min(len(b.Bytes), len(a.Bytes))) && bytes.Equal(b.Bytes[:n], a.Bytes[:n])
	}
	return known && same(end) && !same(b.Nbytes)
}

func fixUndeclaredWrite(op *Op, v *Violation) string {
	on := op.at(v.Subject)
	if on.holder() != "" {
		return fmt.Sprintf("do not change %s: work on a clone", strings.TrimPrefix(v.Subject.String(), "argument "))
	}
	sets := on.sets()
	if len(sets) == 0 {
		sets = []string{op.freeSet()}
	}
	fix := "write a clone of " + v.Subject.Name
	switch before, after := v.Before.Content, v.After.Content; {
	case before != nil && v.Plain && inCapacity(before, after):
		fix = fmt.Sprintf("append to slices.Clip(%s), which has no capacity to write to", v.Subject.Name)
	case before == nil || changedBytes(before, after) != "":
	case len(changedMetadata(before, after)) == 0:
		fix = fmt.Sprintf("do not call in-place ops on %s, or raise its version", v.Subject.Name)
	default:
		fix = "change the metadata of a view of " + v.Subject.Name
	}
	if op.Declared == CustomOp {
		return fmt.Sprintf("%s; or add %q to mutates_args", fix, v.Subject.Name)
	}
	return fix + "; or annotate: " + op.annotate(v.Subject, on.spell(sets[:1], true))
}
