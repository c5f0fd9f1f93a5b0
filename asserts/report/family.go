package report

import (
	"cmp"
	"slices"
	"strings"
)

// A family is the ops that one kernel serves in several forms, such as add, add_ and add.out, with
// the findings and crashes that count against them.
type family struct {
	name     string
	ops      []*OpResult
	findings []foundIn
	crashes  []crashIn
}

type foundIn struct {
	*Finding
	op *OpResult
}

type crashIn struct {
	Crash
	op *OpResult
}

// families groups the findings of ops by kernel family, and in a family by code.
func families(ops []*OpResult) []*family {
	byName := make(map[string]*family)
	var all []*family
	for _, op := range ops {
		noted := func(f *Finding) bool { return !f.Known }
		if op.Against() == 0 && !slices.ContainsFunc(op.Findings, noted) {
			continue
		}
		name := Family(op.Op)
		f := byName[name]
		if f == nil {
			f = &family{name: name}
			byName[name] = f
			all = append(all, f)
		}
		f.ops = append(f.ops, op)
		for _, found := range op.Findings {
			if !found.Known {
				f.findings = append(f.findings, foundIn{found, op})
			}
		}
		for _, c := range op.Crashes {
			if c.Counts() {
				f.crashes = append(f.crashes, crashIn{c, op})
			}
		}
	}
	for _, f := range all {
		slices.SortStableFunc(f.findings, func(a, b foundIn) int { return cmp.Compare(a.Violation.Code, b.Violation.Code) })
		slices.SortStableFunc(f.crashes, func(a, b crashIn) int { return strings.Compare(a.Cause, b.Cause) })
	}
	slices.SortFunc(all, func(a, b *family) int { return strings.Compare(a.name, b.name) })
	return all
}

// Family returns an op's name without the parts that distinguish the forms of one kernel: the
// overload, the underscore of the in-place form, and the suffixes of derived forms.
func Family(op string) string {
	name := op
	if dot := strings.LastIndexByte(op, '.'); dot > strings.LastIndexByte(op, ':') {
		name = op[:dot]
	}
	if !strings.HasSuffix(name, "__") { // unlike __iand__
		name = strings.TrimSuffix(name, "_")
	}
	for _, derived := range []string{"_functional", "_copy"} {
		if base := strings.TrimSuffix(name, derived); !strings.HasSuffix(base, ":") {
			name = base
		}
	}
	return name
}
