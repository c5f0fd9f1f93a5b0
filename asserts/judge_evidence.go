package asserts

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/opassert/opassert/internal/slicesx"
)

// Evidence that several checks use, and its words in reports.

// A change is a TensorImpl with an object before and after a replacement: a tensor passed twice is reported once.
type change struct{ impl, from, to ID }

const noStorage = "no storage"

// blame adds to the evidence which other tensor of the call holds the new TensorImpl or
// StorageImpl. The argument itself may be among them more than once.
func (j *judge) blame(v *Violation, what string, ins []*input, outs []*output) {
	in := slices.IndexFunc(ins, func(in *input) bool { return in.before.Impl != v.Before.Impl })
	out := slices.IndexFunc(outs, func(out *output) bool { return what == "TensorImpl" || out.Impl != v.After.Impl })
	switch {
	case in >= 0:
		v.Against, v.Other = ins[in].place(), ins[in].after
	case out >= 0:
		v.Against, v.Other = outs[out].place(), outs[out].Observation
	default:
		return
	}
	v.Saw += fmt.Sprintf(", the %s of %s", what, v.Against)
}

func (j *judge) of(args []int) []*input {
	return slices.DeleteFunc(slices.Clone(j.inputs),
		func(in *input) bool { return !slices.Contains(args, in.arg) || !in.before.Defined() })
}

// declared reports whether the schema lets a return be on this storage: an argument with a common alias set is on it.
func (j *judge) declared(out *output, storage ID) bool {
	return slices.ContainsFunc(j.byStorage[storage], func(in *input) bool {
		return slices.Contains(out.declared, in.arg)
	})
}

// reportMismatch reports a return that is not, or does not share storage with, the argument that
// the schema asks for, and names the tensor of the call that it is instead, if any.
func (j *judge) reportMismatch(code Code, out *output, should *input) *Violation {
	v := j.reportOutput(code, out)
	v.Against, v.Other = should.place(), should.after
	switch who, what, _ := j.holder(v.Subject, out.Impl, out.Storage); {
	case !out.Defined():
		v.Saw = fmt.Sprintf("%s is undefined, %s is TensorImpl %v", v.Subject, v.Against, should.after.Impl)
	case what == "TensorImpl":
		v.Saw = fmt.Sprintf("%s is the TensorImpl of %s, not of %s", v.Subject, who, v.Against)
	case who == v.Against:
		v.Saw = fmt.Sprintf("%s is a TensorImpl of its own on the StorageImpl of %s", v.Subject, who)
	case what == "StorageImpl":
		v.Saw = fmt.Sprintf("%s shares StorageImpl with %s, not with %s", v.Subject, who, v.Against)
	}
	return v
}

// An argument that got another TensorImpl or StorageImpl is reported for that, not for sharing the new or old storage.
func sameImpl(out *output, in *input) bool { return in.before.Impl == out.Impl || !in.newImpl }

func sameStorage(out *output, in *input) bool {
	return !in.newStorage && (in.before.Storage == out.Storage || !in.newImpl)
}

func (j *judge) reportAlias(code Code, out *output, who Place, other Observation, what string) {
	out.aliased = true
	v := j.reportOutput(code, out)
	v.Against, v.Other = who, other
	switch what {
	case "TensorImpl":
		v.Saw = fmt.Sprintf("%s is the TensorImpl of %s", v.Subject, who)
	case "StorageImpl":
		v.Saw = fmt.Sprintf("%s shares StorageImpl with %s", v.Subject, who)
	case "memory":
		v.Symptom = Overlapping
		v.Saw = fmt.Sprintf("%s lies in the memory of %s, under another StorageImpl", v.Subject, who)
	default:
		v.Saw = fmt.Sprintf("%s has the version counter of %s, on another StorageImpl", v.Subject, who)
	}
}

func overlaps(a, b *Observation) bool {
	x, y := a.Content, b.Content
	if a.Storage == b.Storage || x == nil || y == nil || x.Memory == 0 || y.Memory == 0 {
		return false
	}
	return min(x.Nbytes, y.Nbytes) > 0 && x.Memory < y.Memory+uintptr(y.Nbytes) && y.Memory < x.Memory+uintptr(x.Nbytes)
}

func counts(a, b *Observation) bool {
	return a.Content != nil && b.Content != nil && a.Content.Counter != 0 && a.Content.Counter == b.Content.Counter
}

func (j *judge) over(o *Observation) []*input { return j.sharing(o, overlaps) }

func (j *judge) counting(o *Observation) []*input { return j.sharing(o, counts) }

func (j *judge) sharing(o *Observation, shares func(a, b *Observation) bool) []*input {
	return slices.DeleteFunc(slices.Clone(j.inputs), func(in *input) bool { return !shares(o, &in.after) })
}

// othersAccused reports whether out is the first of several outputs that share: the others are reported against it.
func othersAccused(out *output, sharers []*output, code Code) bool {
	about := slices.DeleteFunc(slices.Clone(sharers), func(s *output) bool { return !s.codes.Has(code) })
	return len(about) > 1 && about[0] == out
}

func allShare(out *output, inputs []*input, shared func(*output, *input) bool) bool {
	return !slices.ContainsFunc(inputs, func(in *input) bool { return !shared(out, in) })
}

// outOfSight returns the evidence of a use count that no tensor of the call explains.
func outOfSight(what string, p Place, uses int32) string {
	return fmt.Sprintf("use_count of the %s of %s is %d, and no tensor of the call shares it: a reference is held "+
		"elsewhere", what, p, uses)
}

func versions(in *input) string {
	return fmt.Sprintf("version %d -> %d", in.before.Version, in.after.Version)
}

// changedBytes describes how a storage's bytes differ or that they moved, "" if neither.
func changedBytes(b, a *Snapshot) string {
	if b.Nbytes != a.Nbytes {
		return fmt.Sprintf("storage of %d bytes resized to %d", b.Nbytes, a.Nbytes)
	}
	text, _ := overwritten(b, a)
	if text == "" && a.elsewhere(b) {
		return "the bytes of the storage have moved to other memory"
	}
	return text
}

// elsewhere reports whether the bytes are known to be at another address than those of b.
func (c *Snapshot) elsewhere(b *Snapshot) bool {
	x, y := c.address(), b.address()
	return x != 0 && y != 0 && x != y
}

func (c *Snapshot) address() uintptr {
	if c == nil {
		return 0
	}
	return c.Memory
}

// overwritten describes how the bytes differ that a storage had before, "" if they don't, and
// reports whether that is known: for a resized storage it needs both copies.
func overwritten(b, a *Snapshot) (text string, known bool) {
	n := max(0, min(b.Nbytes, a.Nbytes))
	if int64(len(b.Bytes)) >= n && int64(len(a.Bytes)) >= n {
		if changed := unequal(b.Bytes[:n], a.Bytes[:n]); changed > 0 {
			text = fmt.Sprintf("%d of %d bytes changed", changed, n)
		}
		return text, true
	}
	if b.Nbytes != a.Nbytes {
		return "", false
	}
	if b.Digest == a.Digest {
		return "", true
	}
	return fmt.Sprintf("some of %d bytes changed, digest %016x -> %016x", n, b.Digest, a.Digest), true
}

func unequal(b, a []byte) (n int) {
	if bytes.Equal(b, a) { //mutate:equivalent false: only saves time
		return 0
	}
	for i := range b {
		if b[i] != a[i] {
			n++
		}
	}
	return n
}

func changedMetadata(b, a *Snapshot) []string {
	changes := append(changedShape(b, a), changed([]piece{
		{"conj bit", b.Conj, a.Conj}, {"neg bit", b.Neg, a.Neg}, {"requires_grad", b.RequiresGrad, a.RequiresGrad},
		{"names", "[" + b.Names + "]", "[" + a.Names + "]"}, {"layout", "[" + b.Layout + "]", "[" + a.Layout + "]"},
		{"quantizer", "[" + b.Quantizer + "]", "[" + a.Quantizer + "]"},
	})...)
	if b.Grad != a.Grad {
		changes = append(changes, "grad is another tensor")
	}
	return changes
}

// A piece is a piece of metadata before and after a call, of comparable types.
type piece struct {
	name          string
	before, after any
}

func changed(pieces []piece) (changes []string) {
	for _, p := range pieces {
		if p.before != p.after {
			changes = append(changes, fmt.Sprintf("%s %v -> %v", p.name, p.before, p.after))
		}
	}
	return changes
}

// Changed reports whether a tensor has other bytes or metadata, or is another one, after a call; both have a Content.
func (o *Observation) Changed(after *Observation) bool {
	return o.Impl != after.Impl || o.Storage != after.Storage ||
		changedBytes(o.Content, after.Content) != "" || len(changedMetadata(o.Content, after.Content)) > 0
}

// SameStrides reports whether two tensors of the same sizes have the same strides, except dimensions of size 1.
func (c *Snapshot) SameStrides(other *Snapshot) bool {
	if slices.Contains(c.Sizes, 0) {
		return true
	}
	for i, n := range c.Sizes {
		if n != 1 && slicesx.Nth(c.Strides, i) != slicesx.Nth(other.Strides, i) {
			return false
		}
	}
	return true
}

func changedShape(b, a *Snapshot) []string {
	var changes []string
	if !slices.Equal(b.Sizes, a.Sizes) {
		changes = append(changes, fmt.Sprintf("sizes %v -> %v", b.Sizes, a.Sizes))
	}
	if !slices.Equal(b.Strides, a.Strides) {
		changes = append(changes, fmt.Sprintf("strides %v -> %v", b.Strides, a.Strides))
	}
	return append(changes, changed([]piece{{"offset", b.Offset, a.Offset}, {"dtype", b.DType, a.DType}})...)
}

// annotate shows a place's type in the schema before and after: "Tensor noise -> Tensor(a!) noise".
func annotate(p Place, typ string) string {
	if p.Return {
		return fmt.Sprintf("return %s  ->  %s", p.Type, typ)
	}
	return fmt.Sprintf("%s %s  ->  %s %s", p.Type, p.Name, typ, p.Name)
}

// annotate shows the last change of a schema, and where that is.
func (op *Op) annotate(p Place, typ string) string {
	if op.Declared == "" {
		return annotate(p, typ)
	}
	return annotate(p, typ) + ", in " + op.Declared
}
