package asserts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/usual"
)

// InplaceMetadata is OA013.
const InplaceMetadata Code = 13

var _ = add(checkRow{
	code: InplaceMetadata,
	name: "inplace-metadata",
	rule: "an argument that an in-place op writes keeps its sizes, strides, offset, dtype and the names of its " +
		"dimensions; an out argument that keeps its sizes keeps its strides, offset and dtype",
	breaks: "autograd, functionalization and compilers use the argument's old shape; views of it no longer fit",
	level:  Content,
	about:  Argument,
	plans:  func(op *Op, on, _ *Subject) bool { return on.Write && !op.reshapes() },
	judges: (*judge).inplaceMetadata,
	usual:  usual.SameImpl | usual.SameStorage | usual.SameMetadata,
	after:  1<<InputImpl | 1<<InputStorage,
	fixes: func(_ *Op, v *Violation) string {
		return "write into " + v.Subject.Name +
			" without changing its metadata; or tag the op inplace_view, if it has a view variant; or allow it, if it is " +
			"meant to resize " + v.Subject.Name
	},
	skips: []Row{
		{Trait: Storageless, Reason: noStorage},
		{Trait: Contended, Reason: contended},
		{Trait: FunctionalWrapper, Reason: "functional wrapper: it has the sizes of the functional op's result"},
	},
})

// Output reports whether the argument receives a result, and so may be resized. In namespace quantized it has no name.
func (s *Subject) Output() bool { return s.Out || s.Write && s.Name == "out" }

// reshapes reports whether the op changes sizes or the storage of an argument: an in-place view, a resize or a set_.
func (op *Op) reshapes() bool {
	_, name, _ := strings.Cut(op.Name, "::")
	name, _, _ = strings.Cut(name, ".")
	sets := name == "set_" || name == "set_data"
	return sets || slices.Contains(op.Tags, "inplace_view") || slices.Contains(strings.Split(name, "_"), "resize")
}

// inplaceMetadata reports a tensor passed twice for its first argument, and counts one that is also an out argument as
// out. Another TensorImpl or StorageImpl has other metadata: that is OA001 or OA002.
func (j *judge) inplaceMetadata() {
	reported := make(map[ID]bool)
	for _, in := range j.inputs {
		impl := in.before.Impl
		if !in.codes.Has(InplaceMetadata) || !in.before.Defined() || in.newImpl || in.newStorage || reported[impl] {
			continue
		}
		if !j.seesContents(InplaceMetadata, in) {
			continue
		}
		changes := in.misshapen(slices.ContainsFunc(j.byImpl[impl], func(other *input) bool { return other.Output() }))
		if len(changes) == 0 {
			continue
		}
		reported[impl] = true
		j.reportInput(InplaceMetadata, in).Saw = strings.Join(changes, ", ")
	}
}

// misshapen returns the changed metadata that a written tensor should have kept. An output may be
// resized, but not moved within its storage while it fits.
func (in *input) misshapen(output bool) []string {
	b, a := in.before.Content, in.after.Content
	switch {
	case !output:
		return append(changedShape(b, a), lostNames(b, a)...)
	case !slices.Equal(b.Sizes, a.Sizes) || b.SameStrides(a) && b.Offset == a.Offset && b.DType == a.DType:
		return nil
	}
	return changedShape(b, a)
}

// lostNames reports a dimension that lost or changed its name. It may get one: an in-place op
// unifies the names of the tensors that it reads and writes.
func lostNames(b, a *Snapshot) []string {
	before, after := strings.Split(b.Names, ", "), strings.Split(a.Names, ", ")
	for i, name := range before {
		if name != "" && name != "*" && (len(before) != len(after) || name != after[i]) {
			return []string{fmt.Sprintf("names [%s] -> [%s]", b.Names, a.Names)}
		}
	}
	return nil
}
