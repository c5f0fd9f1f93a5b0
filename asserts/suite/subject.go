package suite

import (
	"slices"

	"github.com/opassert/opassert/asserts"
)

// A Plan says what the calls of an op are held against.
type Plan struct {
	Op     asserts.Op       // with every check up to the run's level, waived ones included
	Waived []asserts.Excuse // the checks that an allowlist waives
}

// A target is an op made ready to be run.
type target struct {
	operator Operator
	gen      *generator
	judged   *asserts.Op
	waived   []asserts.Excuse
	*learned
	taught func(*learned) // called when the openings are over, once; may be nil
	plan   *design        // once they are
	found  []*Finding     // in this worker, which minimises each once
	asItIs bool           // findings keep the calls that showed them
	single bool           // one case was asked for: no call before it holds results
}

// What the openings of an op teach, for its design.
type learned struct {
	Ran     []*Case
	Recipes []*Case         // those of recipes
	Named   map[int][]Value // values that errors name, by argument

	// Places are those of the value classes that a call ran with, by case.
	Places map[int]Place
}

func newTarget(e Engine, operator Operator, p Plan, book *Recipes) *target {
	p.Op.Autograd = operator.Autograd
	operator.Unseen = slices.DeleteFunc(slices.Clone(operator.Unseen), func(u Unseen) bool {
		return !slices.ContainsFunc(p.Op.Checks, func(c asserts.Check) bool { return c.Code == u.Code })
	})
	p.Op.Checks = slices.DeleteFunc(slices.Clone(p.Op.Checks), operator.unseen)
	return &target{
		operator: operator, gen: newGenerator(operator.Schema, book),
		judged: e.Subjects(&p.Op), waived: p.Waived, learned: &learned{Named: make(map[int][]Value), Places: make(map[int]Place)},
	}
}

// planned is how many cases come before the design can be made: the openings,
// and a question about each argument.
func (t *target) planned() int {
	return t.gen.openings() + len(t.operator.Schema.Func.Args)
}

// What a case may cost, as cost returns it.
const (
	wordVaried = "varied" // it has value classes that no op needs to take
	wordCostly = "costly" // it may take long for good reason
)

// cost returns what a case may ask for that says nothing of the kernel, or "".
func (t *target) cost(number int) string {
	d := t.plan
	if number < t.planned() || d == nil || len(d.bases) == 0 {
		return ""
	}
	if number >= d.apart()+len(d.rows) || slices.ContainsFunc(d.row(number, nil, nil).classes, func(i int) bool { return d.classes[i].costly() }) {
		return wordCostly
	}
	return wordVaried
}

// design is the cases that follow those.
func (t *target) design() *design {
	if t.plan == nil {
		t.Ran = chooseBases(t.Ran)
		t.plan = newDesign(t.operator, t.planned(), t.learned)
	}
	return t.plan
}

// outOfSight returns what a call did not show, for each tensor that was there.
func (t *target) outOfSight(seen *asserts.Seen) []asserts.Skip {
	var skips []asserts.Skip
	for _, u := range t.operator.Unseen {
		if n := t.defined(u.On, seen); n > 0 {
			skips = append(skips, asserts.Skip{Code: u.Code, Reason: "not observable: " + u.Reason, Count: n})
		}
	}
	return skips
}

// defined counts the tensors of an argument; what is about none in particular
// counts as one.
func (t *target) defined(on asserts.Ref, seen *asserts.Seen) int {
	arg, ok := on.Arg()
	if !ok {
		return 1
	}
	n, at := 0, 0
	for i, length := range seen.ArgLens[:min(arg+1, len(seen.ArgLens))] {
		for _, o := range seen.Before[at : at+length] {
			if i == arg && o.Defined() {
				n++
			}
		}
		at += length
	}
	return n
}

// unseen reports whether a check is one that the engine cannot show broken.
func (o Operator) unseen(c asserts.Check) bool {
	return slices.ContainsFunc(o.Unseen, func(u Unseen) bool { return u.Code == c.Code && u.On == c.On })
}
