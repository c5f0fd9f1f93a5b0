package asserts

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// identities judges OA001 and OA002.
func (j *judge) identities() {
	type change struct{ impl, from, to ID }
	known := make(map[change]bool)
	for i := range j.inputs {
		in := &j.inputs[i]
		b, a := &in.before, &in.after
		if in.codes.Has(InputImpl) && j.mustKeepImpl(in) && j.judged(InputImpl, b) && a.Impl != b.Impl {
			in.newImpl = true
			c := change{from: b.Impl, to: a.Impl}
			if b.Defined() && known[c] {
				continue
			}
			known[c] = true
			v := j.reportInput(InputImpl, in)
			v.Saw = fmt.Sprintf("%s was TensorImpl %v before the call and is %v after it", v.Subject, b.Impl, a.Impl)
			j.blame(v, j.byImpl[a.Impl], j.outByImpl[a.Impl])
			v.Fix = fixInputImpl(v)
			continue
		}
		if in.codes.Has(InputStorage) && b.Defined() && j.judged(InputStorage, b) && a.Storage != b.Storage {
			in.newStorage = true
			c := change{b.Impl, b.Storage, a.Storage}
			if known[c] {
				continue
			}
			known[c] = true
			v := j.reportInput(InputStorage, in)
			v.Saw = fmt.Sprintf("%s was on StorageImpl %v before the call and is on %v after it", v.Subject, b.Storage, a.Storage)
			j.blame(v, j.byStorage[a.Storage], j.outByStorage[a.Storage])
			v.Fix = fixInputStorage(v)
		}
	}
}

// mustKeepImpl leaves out what was never a tensor, and an undefined tensor
// that the op may fill in.
func (j *judge) mustKeepImpl(in *input) bool {
	return in.before.Defined() || in.after.Defined() && !in.Write
}

// blame adds to the evidence whose the new TensorImpl or StorageImpl is, of
// those that hold it. The argument itself may be among them more than once.
func (j *judge) blame(v *Violation, ins []*input, outs []*output) {
	in := slices.IndexFunc(ins, func(in *input) bool { return in.before.Impl != v.Before.Impl })
	out := slices.IndexFunc(outs, func(out *output) bool { return v.Code == InputImpl || out.Impl != v.After.Impl })
	switch {
	case in >= 0:
		v.Against, v.Other = ins[in].place(), ins[in].after
	case out >= 0:
		v.Against, v.Other = outs[out].place(), outs[out].Observation
	default:
		return
	}
	what := "TensorImpl"
	if v.Code == InputStorage {
		what = "StorageImpl"
	}
	v.Saw += fmt.Sprintf(", the %s of %s", what, v.Against)
}

// undeclaredWrites judges OA009. Bytes belong to a storage and metadata to a
// TensorImpl: of the arguments that share one, the first is reported.
func (j *judge) undeclaredWrites() {
	storages, impls := make(map[ID]bool), make(map[ID]bool)
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
		if !j.judged(UndeclaredWrite, &in.before) || b == nil || a == nil || in.before.Impl != in.after.Impl {
			continue
		}
		var saw []string
		if text := changedBytes(b, a); text != "" && !storages[in.before.Storage] {
			saw = append(saw, text, versions(in))
		}
		if !impls[in.before.Impl] {
			saw = append(saw, changedMetadata(b, a)...)
		}
		storages[in.before.Storage], impls[in.before.Impl] = true, true
		if len(saw) > 0 {
			v := j.reportInput(UndeclaredWrite, in)
			v.Saw = strings.Join(saw, ", ")
			v.Fix = fixUndeclaredWrite(j.op, v)
		}
	}
}

// sharesWritten tells whether an argument that the op may write was, or comes
// to be, on the same storage.
func (j *judge) sharesWritten(in *input) bool {
	return slices.ContainsFunc(j.byStorage[in.before.Storage], func(other *input) bool { return other.Write })
}

// versionBumps judges OA010. A written argument whose storage is also reached
// by another written one, whose version rose, was written through that one.
func (j *judge) versionBumps() {
	reported := make(map[ID]bool)
	for i := range j.inputs {
		in := &j.inputs[i]
		storage := in.before.Storage
		if !in.codes.Has(VersionBump) || !in.before.Defined() || in.newImpl || reported[storage] {
			continue
		}
		b, a := in.before.Content, in.after.Content
		if !j.judged(VersionBump, &in.before) || b == nil || a == nil || in.after.Storage != storage {
			continue
		}
		text := overwritten(b, a)
		if text == "" || slices.ContainsFunc(j.byStorage[storage], (*input).bumped) {
			continue
		}
		reported[storage] = true
		v := j.reportInput(VersionBump, in)
		v.Saw = text + ", " + versions(in)
		v.Fix = fixVersionBump(v)
	}
}

// bumped tells whether a written argument's version rose. The counter wraps.
func (in *input) bumped() bool {
	return in.Write && int32(in.after.Version-in.before.Version) > 0
}

func versions(in *input) string {
	return fmt.Sprintf("version %d -> %d", in.before.Version, in.after.Version)
}

// changedBytes says how a storage's bytes differ, "" when they don't.
func changedBytes(b, a *Content) string {
	if b.Nbytes != a.Nbytes {
		return fmt.Sprintf("storage of %d bytes resized to %d", b.Nbytes, a.Nbytes)
	}
	return overwritten(b, a)
}

// overwritten says how the bytes differ that a storage had before, "" when
// they don't. Those of a storage that was resized are known by its copy alone.
func overwritten(b, a *Content) string {
	n := max(0, min(b.Nbytes, a.Nbytes))
	if int64(len(b.Bytes)) >= n && int64(len(a.Bytes)) >= n {
		if bytes.Equal(b.Bytes[:n], a.Bytes[:n]) {
			return ""
		}
		changed := 0
		for i := range n {
			if b.Bytes[i] != a.Bytes[i] {
				changed++
			}
		}
		return fmt.Sprintf("%d of %d bytes changed", changed, n)
	}
	if b.Nbytes != a.Nbytes || b.Digest == a.Digest {
		return ""
	}
	return fmt.Sprintf("some of %d bytes changed, digest %016x -> %016x", n, b.Digest, a.Digest)
}

// changedMetadata names each piece of metadata that differs.
func changedMetadata(b, a *Content) []string {
	var changes []string
	if !slices.Equal(b.Sizes, a.Sizes) {
		changes = append(changes, fmt.Sprintf("sizes %v -> %v", b.Sizes, a.Sizes))
	}
	if !slices.Equal(b.Strides, a.Strides) {
		changes = append(changes, fmt.Sprintf("strides %v -> %v", b.Strides, a.Strides))
	}
	if b.Offset != a.Offset {
		changes = append(changes, fmt.Sprintf("offset %d -> %d", b.Offset, a.Offset))
	}
	if b.DType != a.DType {
		changes = append(changes, fmt.Sprintf("dtype %s -> %s", b.DType, a.DType))
	}
	return changes
}
