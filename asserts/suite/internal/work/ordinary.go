package work

import (
	"slices"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// limit makes notes of findings that show only in calls that are not ordinary.
func (t *Target) limit(f *report.Finding, calls ...*sample.Case) {
	only := ""
	for _, c := range calls {
		if only = t.unusual(c); only == "" {
			return
		}
	}
	f.Violation.Limit(only)
}

// unusual returns in which respect the tensors of a call do not agree where those of the op's first working call do:
// "where dtypes differ"; "" for an ordinary call. Strides, offsets and shared storages are ordinary.
func (t *Target) unusual(c *sample.Case) string {
	if len(t.Ran) == 0 {
		return ""
	}
	first, all := firstTensors(t.Ran[0]), firstTensors(c)
	empty := func(s *sample.TensorSpec) bool { return s != nil && slices.Contains(s.Sizes, 0) }
	if slices.ContainsFunc(all, empty) && !slices.ContainsFunc(first, empty) {
		return "for empty tensors"
	}
	if differ(first, all, func(a, b *sample.TensorSpec) bool { return a.DType == b.DType }) {
		return "where dtypes differ"
	}
	if differ(first, all, func(a, b *sample.TensorSpec) bool { return slices.Equal(a.Sizes, b.Sizes) }) {
		return "where sizes differ"
	}
	for i := range all {
		if first[i] != nil && c.Omits(i) {
			return "without " + c.Names[i]
		}
	}
	return ""
}

// firstTensors returns the first tensor of each argument, nil for one without a tensor of its own.
func firstTensors(c *sample.Case) []*sample.TensorSpec {
	all := make([]*sample.TensorSpec, len(c.Args))
	for i := range c.Args {
		own := c.Args[i].AppendTensors(nil)
		if n := slices.IndexFunc(own, func(s *sample.TensorSpec) bool { return s.Same == 0 }); n >= 0 {
			all[i] = own[n]
		}
	}
	return all
}

// differ reports whether two tensors agree in the first call and not in the second one.
func differ(first, second []*sample.TensorSpec, agree func(a, b *sample.TensorSpec) bool) bool {
	for i := range first {
		for j := range i {
			if first[i] == nil || first[j] == nil || second[i] == nil || second[j] == nil {
				continue
			}
			if agree(first[i], first[j]) && !agree(second[i], second[j]) {
				return true
			}
		}
	}
	return false
}
