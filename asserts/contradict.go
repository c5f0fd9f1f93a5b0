package asserts

import (
	"fmt"
	"slices"
)

// A Pair is the call of a kernel, and the one that it is compared with: the call of its fake, or
// the same call on meta.
type Pair struct{ Real, Other *Seen }

// facts are the properties of a return that are compared, in that order, each with the properties of
// arguments that it may depend on: where these are alike, a kernel that returns another is at fault.
var facts = []struct {
	name      string
	of, given func(*Snapshot) string
}{
	{"dtype", func(c *Snapshot) string { return c.DType }, func(c *Snapshot) string { return fmt.Sprint(c.DType, min(1, len(c.Sizes))) }},
	{"sizes", func(c *Snapshot) string { return fmt.Sprint(c.Sizes) }, func(c *Snapshot) string { return fmt.Sprint(c.DType, c.Sizes) }},
	{"strides", steps, func(c *Snapshot) string { return c.DType + steps(c) }},
}

// steps returns the strides that reach an element.
func steps(c *Snapshot) string {
	var all []int64
	for i, n := range c.Sizes {
		if n != 1 && !slices.Contains(c.Sizes, 0) {
			all = append(all, stride(c, i))
		}
	}
	return fmt.Sprintf("%v of sizes %v", all, c.Sizes)
}

// Contradicts returns which of a kernel and its fake contradicts itself, where the two
// differ in a return: the one of which it differs from that of another call too, whose
// arguments are alike in all that it may depend on. It returns "" where that is neither,
// or both. The other call is named in the words of the caller.
func Contradicts(op *Op, at Place, here, there Pair, named string) string {
	a, b, c, d := here.Real.returned(op, at), here.Other.returned(op, at), there.Real.returned(op, at), there.Other.returned(op, at)
	if a == nil || b == nil || c == nil || d == nil {
		return ""
	}
	for _, f := range facts {
		kernel, fake := f.of(a), f.of(b)
		if kernel == fake {
			continue
		}
		if !slices.EqualFunc(here.Real.Before, there.Real.Before, func(a, b Observation) bool { return given(a, f.given) == given(b, f.given) }) {
			return ""
		}
		switch {
		case f.of(c) != kernel && f.of(d) == fake:
			advice := "let it return that here too"
			if f.name == "sizes" {
				advice += "; or, where it is to depend on contents, let the fake leave it open: torch.library.get_ctx().new_dynamic_size()"
			}
			return fmt.Sprintf("the kernel contradicts itself: of arguments that are alike, %s, it returns %s %s, and its fake %s both times: %s", named, f.name, f.of(c), fake, advice)
		case f.of(c) == kernel && f.of(d) != fake:
			return fmt.Sprintf("the fake contradicts itself: of arguments that are alike, %s, it returns %s %s, and the kernel %s both times: let it return that here too", named, f.name, f.of(d), kernel)
		}
		return ""
	}
	return ""
}

// given returns the part of an argument that a return may depend on.
func given(o Observation, of func(*Snapshot) string) string {
	if o.Content == nil {
		return ""
	}
	return of(o.Content)
}

// returned returns the observation of a return, or nil.
func (s *Seen) returned(op *Op, at Place) *Snapshot {
	i := slices.IndexFunc(op.Results, func(r Subject) bool { return r.Index == at.Index }) // parts come later
	if !at.Return || at.Inside || i < 0 {
		return nil
	}
	if all := split(s.Results, s.ResultLens, op.Results)[i]; max(at.Element, 0) < len(all) {
		return all[max(at.Element, 0)].Content
	}
	return nil
}
