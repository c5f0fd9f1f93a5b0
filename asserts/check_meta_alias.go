package asserts

import "cmp"

// MetaAlias is OA011. Package compare judges it.
const MetaAlias Code = 11

var _ = add(checkRow{
	code: MetaAlias,
	name: "meta-alias",
	rule: "the call on Meta, and that of the op's fake, have the alias graph, sizes, strides and dtype of " +
		"the call on CPU",
	breaks: "compilers and fake tensors plan memory and views that differ from those of the kernel",
	level:  Meta,
	about:  Return,
	plans:  func(*Op, *Subject, *Subject) bool { return true },
	fixes: func(_ *Op, v *Violation) string {
		return cmp.Or(v.Fix, v.Symptom.In(MetaAlias).Fix, "the schema does not say which one is right: make the meta kernel "+
			"return the sizes, strides, dtype and views of the other, or the other way round")
	},
	skips: reliable,
})
