package compare

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
)

// A Pair is a call of a kernel and the call that it is compared with, of its fake or on meta.
type Pair struct{ Real, Other *asserts.Seen }

// facts are the properties of a return that are compared, in order, each with the properties of arguments that it may
// depend on: if these are equal, a kernel that returns another value is at fault.
var facts = []struct {
	name      string
	of, given func(*asserts.Snapshot) string
}{
	{"dtype", func(c *asserts.Snapshot) string { return c.DType },
		func(c *asserts.Snapshot) string { return fmt.Sprint(c.DType, min(1, len(c.Sizes))) }},
	{"sizes", func(c *asserts.Snapshot) string { return fmt.Sprint(c.Sizes) },
		func(c *asserts.Snapshot) string { return fmt.Sprint(c.DType, c.Sizes) }},
	{"strides", steps, func(c *asserts.Snapshot) string { return c.DType + steps(c) }},
}

// steps returns the strides of dimensions with more than one element.
func steps(c *asserts.Snapshot) string {
	strides := append(slices.Clone(c.Strides), make([]int64, len(c.Sizes))...) // some may be missing
	var all []int64
	for i, n := range c.Sizes {
		if n != 1 && !slices.Contains(c.Sizes, 0) {
			all = append(all, strides[i])
		}
	}
	return fmt.Sprintf("%v of sizes %v", all, c.Sizes)
}

// Contradicts names the one of kernel and fake that contradicts itself, where they differ in a
// return: the one whose return differs between two calls with the same relevant properties of
// arguments. It returns "" if that holds for neither or both. The caller describes the other call.
func Contradicts(op *asserts.Op, at asserts.Place, here, there Pair, other string) string {
	a, b, c, d := returned(op, here.Real, at), returned(op, here.Other, at), returned(op, there.Real, at),
		returned(op, there.Other, at)
	if a == nil || b == nil || c == nil || d == nil {
		return ""
	}
	for _, f := range facts {
		kernel, fake := f.of(a), f.of(b)
		if kernel == fake {
			continue
		}
		if !slices.EqualFunc(here.Real.Before, there.Real.Before,
			func(a, b asserts.Observation) bool { return given(a, f.given) == given(b, f.given) }) {
			return ""
		}
		switch {
		case f.of(c) != kernel && f.of(d) == fake:
			advice := "return that here too"
			if f.name == "sizes" {
				advice += "; or, if it depends on contents, leave it open in the fake: torch.library.get_ctx().new_dynamic_size()"
			}
			return fmt.Sprintf("the kernel contradicts itself: for similar arguments, %s, it returns %s %s, and its fake %s "+
				"both times: %s", other, f.name, f.of(c), fake, advice)
		case f.of(c) == kernel && f.of(d) != fake:
			return fmt.Sprintf("the fake contradicts itself: for similar arguments, %s, it returns %s %s, and the kernel %s "+
				"both times: return that here too", other, f.name, f.of(d), kernel)
		}
		return ""
	}
	return ""
}

// given returns the property of an argument that a return may depend on.
func given(o asserts.Observation, of func(*asserts.Snapshot) string) string {
	if o.Content == nil {
		return ""
	}
	return of(o.Content)
}

func returned(op *asserts.Op, s *asserts.Seen, at asserts.Place) *asserts.Snapshot {
	for _, out := range newCall(op, s, nil).returns {
		whole := at.Return && !at.Inside && !out.at.Inside
		if whole && out.at.Index == at.Index && max(out.at.Element, 0) == max(at.Element, 0) {
			return out.after.Content
		}
	}
	return nil
}
