package asserts

import (
	"fmt"
	"slices"
)

// writtenResults judges OA006.
func (j *judge) writtenResults() {
	for i := range j.outputs {
		out := &j.outputs[i]
		owners := j.owners(out, out.selves)
		if len(owners) == 0 || !j.judged(ReturnedSelf, &out.Observation, &owners[0].before) {
			continue
		}
		if slices.ContainsFunc(owners, func(in *input) bool {
			return in.before.Impl == out.Impl || in.after.Impl == out.Impl
		}) {
			continue
		}
		out.wrong = true
		j.reportMismatch(ReturnedSelf, out, owners[0])
	}
}

// owners gives the tensors that a return marked (a!) may be: of an argument
// that is a list as well, the one at its place. Where the argument was
// undefined there is nothing to return.
func (j *judge) owners(out *output, args []int) []*input {
	var owners []*input
	for i := range j.inputs {
		in := &j.inputs[i]
		if !slices.Contains(args, in.arg) || !in.before.Defined() && !in.after.Defined() {
			continue
		}
		if !in.List || !out.List || in.element == out.element {
			owners = append(owners, in)
		}
	}
	return owners
}

// views judges OA004.
func (j *judge) views() {
	for i := range j.outputs {
		out := &j.outputs[i]
		if !out.Defined() {
			continue
		}
		bases := j.of(out.bases)
		if len(bases) == 0 || !j.judged(ViewStorage, &out.Observation, &bases[0].before) {
			continue
		}
		if j.declared(out, out.Storage) {
			continue
		}
		out.wrong = true
		j.reportMismatch(ViewStorage, out, bases[0])
	}
}

// of gives the defined tensors of some arguments.
func (j *judge) of(args []int) []*input {
	var ins []*input
	for i := range j.inputs {
		if in := &j.inputs[i]; slices.Contains(args, in.arg) && in.before.Defined() {
			ins = append(ins, in)
		}
	}
	return ins
}

// declared tells whether the schema lets a return be on this storage: it is
// that of an argument with a common alias set.
func (j *judge) declared(out *output, storage ID) bool {
	return slices.ContainsFunc(j.byStorage[storage], func(in *input) bool {
		return slices.Contains(out.declared, in.arg)
	})
}

// reportMismatch reports a return that is not on, or is not, the argument that
// it should be, and says what it is instead.
func (j *judge) reportMismatch(code Code, out *output, should *input) {
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
	case code == ViewStorage:
		v.Saw = fmt.Sprintf("%s is on StorageImpl %v, %s is on %v", v.Subject, out.Storage, v.Against, should.after.Storage)
	default:
		v.Saw = fmt.Sprintf("%s is TensorImpl %v, %s is %v", v.Subject, out.Impl, v.Against, should.after.Impl)
	}
	if code == ViewStorage {
		v.Fix = fixViewStorage(v)
	} else {
		v.Fix = fixReturnedSelf(v)
	}
}

// undeclaredAliases judges OA007. A return that shares with several arguments
// is reported once: for the one that it is, else for the first whose storage
// it has.
func (j *judge) undeclaredAliases() {
	for i := range j.outputs {
		out := &j.outputs[i]
		if len(out.strangers) == 0 || !out.Defined() || out.wrong || !j.judged(UndeclaredAlias, &out.Observation) {
			continue
		}
		if in := j.stranger(out, j.byImpl[out.Impl], sameImpl); in != nil {
			j.reportAlias(UndeclaredAlias, out, in.place(), in.after, "TensorImpl")
		} else if in := j.stranger(out, j.byStorage[out.Storage], sameStorage); in != nil {
			j.reportAlias(UndeclaredAlias, out, in.place(), in.after, "StorageImpl")
		}
	}
}

// stranger gives the first of the inputs that the return must not share with.
func (j *judge) stranger(out *output, inputs []*input, shared func(*output, *input) bool) *input {
	allowed := func(in *input) bool { return slices.Contains(out.declared, in.arg) }
	if slices.ContainsFunc(inputs, allowed) {
		return nil // it has this by way of the schema
	}
	for _, in := range inputs {
		if !slices.Contains(out.strangers, in.arg) || !shared(out, in) {
			continue
		}
		if reason, skip := j.skip(UndeclaredAlias, []*Observation{&in.after}); skip {
			j.skipped[Skip{Code: UndeclaredAlias, Reason: reason}]++
			continue
		}
		return in
	}
	return nil
}

// An argument that got another TensorImpl or StorageImpl in the call is
// reported for that, and not for sharing what it got, or the storage it lost.
func sameImpl(out *output, in *input) bool {
	return in.before.Impl == out.Impl || !in.newImpl
}

func sameStorage(out *output, in *input) bool {
	return !in.newStorage && (in.before.Storage == out.Storage || !in.newImpl)
}

func (j *judge) reportAlias(code Code, out *output, who Place, other Observation, what string) {
	out.aliased = true
	v := j.reportOutput(code, out)
	v.Against, v.Other = who, other
	if what == "TensorImpl" {
		v.Saw = fmt.Sprintf("%s is the TensorImpl of %s", v.Subject, who)
	} else {
		v.Saw = fmt.Sprintf("%s shares StorageImpl with %s", v.Subject, who)
	}
	v.Fix = fixAlias(j.op, v)
}

// outputAliases judges OA008. What belongs to an argument is OA007's concern;
// of several outputs that share, each is reported against the first.
func (j *judge) outputAliases() {
	for i := range j.outputs {
		out := &j.outputs[i]
		if !out.Defined() || out.codes.Has(OutputAlias) && !j.judged(OutputAlias, &out.Observation) {
			continue
		}
		if j.byImpl[out.Impl] != nil || j.byStorage[out.Storage] != nil {
			continue
		}
		if peer := j.peer(out, j.outByImpl[out.Impl]); peer != nil {
			peer.aliased = true
			j.reportAlias(OutputAlias, out, peer.place(), peer.Observation, "TensorImpl")
		} else if peer := j.peer(out, j.outByStorage[out.Storage]); peer != nil {
			peer.aliased = true
			j.reportAlias(OutputAlias, out, peer.place(), peer.Observation, "StorageImpl")
		}
	}
}

// peer gives the first of the sharers that comes before out and that out must
// not share with.
func (j *judge) peer(out *output, sharers []*output) *output {
	for _, peer := range sharers {
		if peer == out {
			return nil
		}
		apart := slices.Contains(out.peers, peer.result) || slices.Contains(peer.peers, out.result)
		if !apart || out.wrong || peer.wrong {
			continue
		}
		if reason, skip := j.skip(OutputAlias, []*Observation{&out.Observation, &peer.Observation}); skip {
			j.skipped[Skip{Code: OutputAlias, Reason: reason}]++
			continue
		}
		return peer
	}
	return nil
}

// freshImpls judges OA003, where OA007 and OA008 have not said whose the
// TensorImpl is.
func (j *judge) freshImpls() {
	for i := range j.outputs {
		out := &j.outputs[i]
		if !out.codes.Has(FreshImpl) || !out.Defined() || !j.judged(FreshImpl, &out.Observation) || out.aliased {
			continue
		}
		shared := j.byImpl[out.Impl]
		sharers := j.outByImpl[out.Impl] // out is one of them
		known := len(shared)+len(sharers) > 1
		if known && out.wrong || !allShare(out, shared, sameImpl) || spared(out, sharers, FreshImpl) {
			continue
		}
		if known || out.ImplUses > 1 {
			j.reportHeld(FreshImpl, out, out.Impl, 0)
		}
	}
}

// freshStorages judges OA005, where OA007 and OA008 have not said whose the
// StorageImpl is.
func (j *judge) freshStorages() {
	for i := range j.outputs {
		out := &j.outputs[i]
		if !out.codes.Has(FreshStorage) || !out.Defined() || !j.judged(FreshStorage, &out.Observation) || out.aliased {
			continue
		}
		shared := j.byStorage[out.Storage]
		sharers := j.outByStorage[out.Storage]
		if out.StorageUses > 1 && allShare(out, shared, sameStorage) && !spared(out, sharers, FreshStorage) {
			j.reportHeld(FreshStorage, out, 0, out.Storage)
		}
	}
}

// spared tells whether out is the first of several outputs that share: the
// others are reported, against it.
func spared(out *output, sharers []*output, code Code) bool {
	var about []*output
	for _, s := range sharers {
		if s.codes.Has(code) {
			about = append(about, s)
		}
	}
	return len(about) > 1 && about[0] == out
}

func allShare(out *output, inputs []*input, shared func(*output, *input) bool) bool {
	return !slices.ContainsFunc(inputs, func(in *input) bool { return !shared(out, in) })
}

// reportHeld reports a return that somebody else holds.
func (j *judge) reportHeld(code Code, out *output, impl, storage ID) {
	v := j.reportOutput(code, out)
	what, uses := "TensorImpl", out.ImplUses
	if code == FreshStorage {
		what, uses = "StorageImpl", out.StorageUses
	}
	switch who, held, seen := j.holder(v.Subject, impl, storage); {
	case held == "":
		v.Saw = fmt.Sprintf("use_count of the %s of %s is %d, and nobody in the call shares it: somebody keeps a reference", what, v.Subject, uses)
	case code == FreshImpl:
		v.Against, v.Other = who, seen
		v.Saw = fmt.Sprintf("%s is the TensorImpl of %s", v.Subject, who)
	default:
		v.Against, v.Other = who, seen
		v.Saw = fmt.Sprintf("%s shares StorageImpl with %s, use_count is %d", v.Subject, who, uses)
	}
	v.Fix = fixHeld(v)
}
