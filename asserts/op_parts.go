package asserts

import "slices"

// WithParts returns the op with its checks extended to the tensors inside its tensors, whose
// aliasing and writes are otherwise invisible: each subject gets a second one at the end, a list,
// and each check that extends to parts a line about it. An engine that observes the parts decides
// what they are and what reports call them.
//
// The checks of identity are not extended, nor that of the version counter: a tensor may change its
// parts, and they have version counters of their own. But a part that is a further storage of the
// tensor must stay, as the tensor's own.
func WithParts(op *Op) *Op {
	extended := &Op{
		Name:      op.Name,
		Schema:    op.Schema,
		Args:      withParts(op.Args),
		Results:   withParts(op.Results),
		Composite: op.Composite,
		Tags:      op.Tags,
		Autograd:  op.Autograd,
		Raises:    op.Raises,
		Notes:     op.Notes,
		Checks:    []Check{},
	}
	parts := func(r Ref) Ref {
		if r > 0 {
			return r + Ref(len(op.Args))
		}
		return r - Ref(len(op.Results))
	}
	for _, c := range op.Plan() {
		extended.Checks = append(extended.Checks, c)
		_, isReturn := c.On.Result()
		switch {
		case !c.Code.check().parts:
		case c.Code == ViewStorage:
			extended.Checks = append(extended.Checks, Check{c.Code, parts(c.On), parts(c.Against)})
		case isReturn && c.Against == 0 && op.Subject(c.On).aliased():
			// The parts of a view may be those of its base.
		case c.Against == 0:
			extended.Checks = append(extended.Checks, Check{c.Code, parts(c.On), 0})
		case c.Against == c.On:
			extended.Checks = append(extended.Checks, Check{c.Code, parts(c.On), parts(c.On)})
		default:
			extended.Checks = append(extended.Checks,
				Check{c.Code, parts(c.On), c.Against},
				Check{c.Code, parts(c.On), parts(c.Against)},
				Check{c.Code, c.On, parts(c.Against)})
		}
	}
	for i := range op.Results {
		extended.Checks = append(extended.Checks, foreign(op, i, parts)...)
	}
	return extended
}

// foreign returns the lines that compare the parts of a return marked (a!) with the other
// arguments: OA006 covers the tensor itself.
func foreign(op *Op, result int, parts func(Ref) Ref) []Check {
	r := ResultRef(result)
	if !slices.ContainsFunc(op.Plan(), func(c Check) bool { return c.Code == ReturnedSelf && c.On == r }) {
		return nil
	}
	var lines []Check
	for i := range op.Args {
		if a := ArgRef(i); !mayShare(&op.Results[result], &op.Args[i]) {
			lines = append(lines, Check{UndeclaredAlias, parts(r), a}, Check{UndeclaredAlias, parts(r), parts(a)})
		}
	}
	return lines
}

func withParts(subjects []Subject) []Subject {
	all := slices.Clip(slices.Clone(subjects))
	for _, s := range subjects {
		s.Name, s.List, s.Inside = s.Name+".parts", true, true
		s.Suffix = "[]"
		s.Type = s.spell(s.Before, s.Write)
		all = append(all, s)
	}
	return all
}
