package asserts

import (
	"slices"
	"strings"
)

// aliased reports whether the subject has an alias set in the schema.
func (s *Subject) aliased() bool { return len(s.Before)+len(s.After) > 0 }

// anything reports whether the schema lets a return share with any tensor.
func (s *Subject) anything() bool {
	return slices.Contains(s.Before, wildcard) || slices.Contains(s.After, wildcard)
}

const wildcard = "*"

// shareSet reports whether two subjects have a common alias set in the schema, before or after the
// call. Two wildcards do not count: they promise nothing.
func shareSet(a, b *Subject) bool {
	for _, sets := range [2][]string{a.Before, a.After} {
		for _, set := range sets {
			if set != wildcard && (slices.Contains(b.Before, set) || slices.Contains(b.After, set)) {
				return true
			}
		}
	}
	return false
}

// mayShare reports whether the schema lets a return share with another subject.
func mayShare(r, other *Subject) bool { return r.anything() || shareSet(r, other) }

// Base reports whether a return and an argument, or the tensors that hold them, have a common alias set in the schema.
func (op *Op) Base(result, arg Place) bool {
	result.Inside, arg.Inside = false, false
	return result.Return && !arg.Return && shareSet(op.at(result), op.at(arg))
}

// sets returns the names of the subject's alias sets before the call.
func (s *Subject) sets() []string {
	return slices.DeleteFunc(slices.Clone(s.Before), func(set string) bool { return set == wildcard })
}

// spell returns the subject's type with other alias sets: "Tensor[]" with a, written, is "Tensor(a!)[]".
func (s *Subject) spell(sets []string, write bool) string {
	if len(sets) == 0 {
		return "Tensor" + s.Suffix
	}
	annotation := strings.Join(sets, "|")
	if write {
		annotation += "!"
	}
	if len(s.After) > 0 {
		annotation += " -> " + strings.Join(s.After, "|")
	}
	return "Tensor(" + annotation + ")" + s.Suffix
}

// holder returns the type that holds the subject's tensors where no schema can annotate them, a
// tensor or a type such as Dict(str, Tensor); otherwise "".
func (s *Subject) holder() string {
	switch {
	case s.Inside:
		return "tensor"
	case !strings.HasPrefix(s.Type, "Tensor"):
		return s.Type
	}
	return ""
}

// freeSet returns the first name that no alias set of the op has.
func (op *Op) freeSet() string {
	used := func(set string) bool {
		has := func(s Subject) bool { return slices.Contains(s.Before, set) || slices.Contains(s.After, set) }
		return slices.ContainsFunc(op.Args, has) || slices.ContainsFunc(op.Results, has)
	}
	set := "a"
	for used(set) {
		if last := len(set) - 1; set[last] == 'z' {
			set += "a"
		} else {
			set = set[:last] + string(set[last]+1)
		}
	}
	return set
}
