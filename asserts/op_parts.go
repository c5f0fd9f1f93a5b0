package asserts

import "slices"

// WithParts returns the op with its checks extended to the tensors inside its tensors, whose aliasing and writes are
// otherwise invisible: each subject gets a second one at the end, a list, and each check that extends to parts a line
// about it. An engine that observes the parts decides what they are and what reports call them.
//
// Not extended are the checks of identity and of the version counter: a tensor may change its parts, which have version
// counters. But a part that is a further storage of the tensor must stay, as the tensor's own.
func WithParts(op *Op) *Op {
	extended := *op
	extended.Args, extended.Results = withParts(op.Args), withParts(op.Results)
	extended.Checks, extended.Waived, extended.plan = []Check{}, nil, nil
	parts := func(r Ref) Ref { // 0 stays 0
		switch {
		case r > 0:
			return r + Ref(len(op.Args))
		case r < 0:
			return r - Ref(len(op.Results))
		}
		return r
	}
	for _, c := range op.Plan() {
		extended.Checks = append(extended.Checks, c)
		_, isReturn := c.On.Result()
		switch inside := (Check{c.Code, parts(c.On), parts(c.Against)}); {
		case !c.Code.check().parts:
		case isReturn && c.Against == 0 && op.Subject(c.On).aliased():
			// The parts of a view may be those of its base.
		case c.Against == 0 || c.Against == c.On || c.Code == ViewStorage:
			extended.Checks = append(extended.Checks, inside)
		default:
			extended.Checks = append(extended.Checks, Check{c.Code, inside.On, c.Against}, inside,
				Check{c.Code, c.On, inside.Against})
		}
	}
	for i := range op.Results {
		extended.Checks = append(extended.Checks, foreign(op, i, parts)...)
	}
	return &extended
}

// foreign returns the lines that compare parts of a return marked (a!) with other arguments: OA006 covers the tensor.
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
