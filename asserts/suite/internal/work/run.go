package work

import (
	"cmp"
	"slices"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// run makes case number n of an op, changes it until the kernel accepts it, and judges the call.
func (r *Runner) run(t *Target, number int) report.CaseResult {
	result := report.CaseResult{Case: number}
	t.threw = nil
	a, err := r.call(t, number, &result)
	threw := t.threw
	switch {
	case err != nil:
		r.Fail(&result, t.Gen.Name, err)
	case a == nil:
		result.Idle = true
	default:
		r.runOnce(t, a, &result)
	}
	for _, c := range threw {
		r.addJudged(t, c, &result)
	}
	return result
}

// judgeRun judges an attempt, and searches for the smallest calls with its faults.
func (r *Runner) judgeRun(t *Target, a *attempt, result *report.CaseResult) {
	if result.Ran = true; t.Single {
		a = r.held(t, a)
	}
	result.Lacks = a.lacks
	found := r.judge(t, a, result)
	if len(found) == 0 && r.needsSecondCall(t, result.Case) {
		for a = range r.again(t, a.c, probe.Unchanged) {
			found = r.judge(t, a, new(report.CaseResult))
		}
	}
	for _, f := range found {
		t.limit(f, a.c)
		result.Found = append(result.Found, r.finding(t, a.c, f, result.Case))
	}
	isNew := func(f *report.Finding) bool { return !slices.ContainsFunc(t.found, f.Repeats) }
	if t.Found != nil && !a.c.Shares() && slices.ContainsFunc(result.Found, isNew) {
		t.Found(result)
	}
	result.Found = nil
	if len(found) > 0 {
		r.earlier.release() // it already has a fault
	}
	for _, f := range found {
		if i := slices.IndexFunc(t.found, f.Repeats); i >= 0 {
			result.Found = append(result.Found, new(*t.found[i]))
			continue
		}
		c := a.c
		if !t.AsItIs {
			c, f = r.minimise(t, c, f)
			t.limit(f, a.c, c)
		}
		if !r.causedByAlias(t, c, f) {
			f = r.finding(t, c, f, result.Case)
			t.found = append(t.found, f)
			result.Found = append(result.Found, f)
		}
	}
}

// runOnce judges an attempt, or adds the result of an equal call.
func (r *Runner) runOnce(t *Target, a *attempt, result *report.CaseResult) {
	if a.before == nil {
		shown := report.CaseResult{Case: result.Case}
		r.judgeRun(t, a, &shown)
		left := r.queueForOtherProcess(t, a, shown.Found)
		shown.Devices.Add(report.Devices{a.calls[0].on: {Skips: left}})
		r.probeMore(t, a, &shown)
		a.before = &cachedResult{c: a.c, result: shown}
		t.made[a.key] = a.before
	}
	before := &a.before.result
	result.Ran, result.Lacks, result.Waived, result.Writes = true, before.Lacks, before.Waived, before.Writes
	result.Devices.Add(before.Devices)
	for _, f := range before.Found {
		result.Found = append(result.Found, new(*f))
	}
}

// call makes the call of a case, and records the classes that it tries. It returns nil if the case
// only queries the kernel, or if no base can be changed to it.
func (r *Runner) call(t *Target, number int, result *report.CaseResult) (a *attempt, err error) {
	switch openings := t.Gen.Openings(); {
	case number < openings:
		rng := sample.NewRandom(0, t.Gen.Name, number)
		c := t.Gen.Generate(rng, number)
		found := r.search(t, rng, c)
		if number < len(t.Gen.Recipes) && found.first != nil {
			result.Unfit = t.Gen.Recipes[number].Unfit(c, found.ran(), found.first)
		}
		if found.a != nil {
			t.Ran = append(t.Ran, found.a.c)
			if number < len(t.Gen.Recipes) {
				t.Recipes = append(t.Recipes, found.a.c)
			}
		}
		return found.record(result)
	case number < t.planned():
		if len(t.Ran) > 0 {
			i, bases := number-openings, design.ChooseBases(t.Ran)
			t.Offered[i] = r.ask(t, bases[0], i)
			r.useNontrivialNumber(t, bases, i)
		}
		return nil, nil
	}
	d := t.design()
	rng := sample.NewRandom(r.Seed, t.Gen.Name, number)
	if len(d.Bases) == 0 || number >= d.Apart()+len(d.Rows) && number%2 == 0 {
		return r.search(t, rng, t.Gen.Generate(rng, number)).record(result)
	}
	row := d.Row(number, t.Origins, rng)
	a, result.Origin, err = r.vary(t, row, number)
	for a == nil && len(row.Classes) > 2 { // the first two are the purpose of the row
		row.Classes = row.Classes[:len(row.Classes)-1]
		a, result.Origin, err = r.vary(t, row, number)
	}
	for _, i := range row.Classes {
		if a == nil || len(a.lacks) == 0 || d.Has(a.c, i) { // the library may lack a property of the class
			arg, class := d.Classes[i].Label()
			result.Tried = append(result.Tried, arg+": "+class)
		}
	}
	if result.Origin != nil && number < d.Apart() {
		t.Origins[number] = *result.Origin
	}
	return a, err
}

// Cases runs cases one after the other; starting is called before each, and ended after it.
func (r *Runner) Cases(t *Target, s Span, starting func(int), ended func(*report.CaseResult) error) error {
	hopeless := 0 // number of first cases whose errors no arguments avoid
	for n := s.From; n < s.To && hopeless < report.GiveUp; n++ {
		if n == s.From || n == t.Gen.Openings() {
			r.prepare(t, n, s, starting)
		}
		if n >= t.planned() {
			d := t.design()
			if t.OnLearned != nil {
				t.OnLearned(t.Learned)
				t.OnLearned = nil
			}
			if n >= d.Apart() && d.Rows == nil {
				d.Follow(t.Origins)
			}
			if s.To >= UsualCases && n >= d.Cases() {
				break
			}
		}
		starting(n)
		result := r.run(t, n)
		if result.Beyond != "" && hopeless == n-s.From {
			hopeless++
		}
		result.Later = t.later(n+1, s)
		if err := ended(&result); err != nil || result.Later > 0 {
			return err
		}
	}
	return nil
}

// ask returns the values that the kernel's errors name for an argument: it calls the base with an invalid one.
func (r *Runner) ask(t *Target, base *sample.Case, i int) []sample.Value {
	nonsense, ok := design.Probe(t.operator.Schema.Func.Args[i].Type)
	if !ok {
		return nil
	}
	c := base.Clone()
	design.SetValue(i, nonsense)(c)
	text, _ := engine.Message(r.query(t, c))
	return design.Choices(nonsense, text)
}

// useNontrivialNumber sets an argument of the bases to a number that changes the results of the op, unlike 0 or
// 1, if the kernel accepts it.
func (r *Runner) useNontrivialNumber(t *Target, bases []*sample.Case, i int) {
	for _, base := range bases {
		v, ok := design.Nontrivial(t.operator.Schema.Func.Args[i], base.Args[i])
		if !ok {
			continue
		}
		c := base.Clone()
		c.Args[i] = v
		if r.query(t, c) != nil {
			return
		}
		base.Args[i] = v
	}
}

// query makes a call that is not judged, and returns its error.
func (r *Runner) query(t *Target, c *sample.Case) error {
	r.unjudged = cmp.Or(r.unjudged, c)
	a, err := r.Try(t, c)
	if err == nil {
		r.queried = append(r.queried, a.calls[0].left...)
	}
	return err
}

// A Span is a range of cases of an op.
type Span struct {
	From, To int
	Skip     []int // earlier cases that end a worker
	Resumed  bool  // an earlier worker has run the cases on which they depend
}

// prepare runs the cases on which a case depends and that no worker has reported: the openings before it, and the
// classes, except those that ended a worker, without cases that this worker ran; starting is called before each.
func (r *Runner) prepare(t *Target, from int, s Span, starting func(int)) {
	if from < t.Gen.Openings() || s.Resumed {
		return
	}
	for n := range from {
		if n >= t.planned() && n >= t.design().Apart() {
			break
		}
		if n < s.From && !slices.Contains(s.Skip, n) {
			starting(n)
			r.call(t, n, new(report.CaseResult))
		}
	}
	for _, made := range [][]*sample.Case{t.Ran, t.Recipes} {
		slices.SortStableFunc(made, func(a, b *sample.Case) int { return a.Number - b.Number })
	}
}

// AllCases, as the end of a run, stands for all cases of an op's design, and UsualCases, for an op of a library, a
// module or a Go package, for those that find nearly all of what these find.
const (
	AllCases   = 1 << 30
	UsualCases = AllCases - 1
)

// later returns how many cases of the design are left after the first n, if those are the usual ones.
func (t *Target) later(n int, s Span) int {
	if s.To != UsualCases || !t.operator.Own() || n < t.planned() {
		return 0
	}
	d := t.design()
	if len(d.Bases) == 0 || n < d.Usual() {
		return 0
	}
	d.Follow(t.Origins)
	return d.Cases() - n
}
