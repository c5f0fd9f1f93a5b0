package work

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
)

// tries is how many times a case is changed after errors before it is given up.
const tries = 20

// A Runner runs cases in this process.
type Runner struct {
	Engine engine.Engine
	Level  asserts.Level
	Policy *asserts.Policy
	Seed   uint64
	room   []byte // for the bytes of a tensor

	Trying  func(*sample.Case)  // called before each try, and with nil after it; may be nil
	Calling func(device string) // called before the op is, on each device; may be nil
	called  bool                // the last try came as far as the call
	Cpu     bool                // no calls on meta: one ended its process
	Limits  map[string]string   // errors of the op with why no arguments avoid them, or ""

	// Shown is called with what a case found before a smaller call is looked for
	// that finds it, which may end the worker; may be nil.
	Shown func(*report.Case)

	earlier kept // what the last call returned

	closest *sample.Case // of the attempts of the last search, all of which failed
	first   error        // of the last search: what its first attempt failed with

	lacks map[string]int // what the last try wanted and the library lacks, by how often
}

// Fail notes how a case of an op failed.
func (r *Runner) Fail(c *report.Case, op string, err error) {
	if err != nil {
		text, _ := engine.Message(err)
		c.Error, c.Beyond = sample.Clip(err.Error()), r.beyond(op, text)
	}
}

// A bounded engine knows errors of its ops that no arguments avoid.
type bounded interface {
	// Beyond says why no arguments take an op past an error; "" where some may.
	Beyond(op, text string) string
}

func (r *Runner) beyond(op, text string) string {
	why, known := r.Limits[text]
	if known {
		return why
	}
	if e, ok := r.Engine.(bounded); ok {
		why = e.Beyond(op, text)
	}
	if why == "" && design.Lost(text) {
		why = "its kernel says that this build lacks what it needs, or that it is gone"
	}
	if r.Limits == nil || len(r.Limits) >= design.MostReadings {
		r.Limits = make(map[string]string)
	}
	r.Limits[text] = why
	return why
}

// An attempt is one call that did not throw.
type attempt struct {
	c    *sample.Case
	cpu  *asserts.Seen
	meta *asserts.Seen
	why  string // there is no meta
}

// run makes case number n of an op, changes it until the kernel takes it, and
// judges the call.
func (r *Runner) run(t *Target, number int) report.Case {
	result := report.Case{Case: number}
	a, close, err := r.call(t, number, &result)
	if a == nil && err == nil {
		result.Idle = true
		return result
	}
	if err != nil {
		result.Close = close
		r.Fail(&result, t.Gen.Name, err)
		if r.closest != nil {
			result.Closest = r.closest.Recipe()
		}
		return result
	}
	if result.Ran = true; t.Single {
		a = r.again(t, a)
	}
	result.Lacks, result.NoMeta = r.lacks, a.why
	found := r.judge(t, a, &result)
	for _, v := range found {
		result.Found = append(result.Found, r.finding(t, a.c, v, number))
	}
	isNew := func(f *report.Finding) bool { return !slices.ContainsFunc(t.found, f.Same) }
	if r.Shown != nil && !shared(a.c) && slices.ContainsFunc(result.Found, isNew) {
		r.Shown(&result)
	}
	result.Found = nil
	if len(found) > 0 {
		r.earlier.release() // what is wrong already
	}
	for _, v := range found {
		f := &report.Finding{Violation: v, Times: 1}
		if i := slices.IndexFunc(t.found, f.Same); i >= 0 {
			again := *t.found[i]
			result.Found = append(result.Found, &again)
			continue
		}
		c := a.c
		if !t.AsItIs {
			c, v = r.minimise(t, c, v)
		}
		if !r.borrowed(t, c, v) {
			f = r.finding(t, c, v, number)
			t.found = append(t.found, f)
			result.Found = append(result.Found, f)
		}
	}
	return result
}

// call makes the call that a case is, and notes which classes it tries. There
// is none where the case only asks, or where no base has a place for it.
func (r *Runner) call(t *Target, number int, result *report.Case) (a *attempt, close int, err error) {
	openings := t.Gen.Openings()
	switch {
	case number < openings:
		rng := sample.NewRandom(0, t.Gen.Name, number)
		c := t.Gen.Generate(rng, number)
		a, close, err := r.search(t, rng, c)
		if err == nil {
			t.Ran = append(t.Ran, a.c)
			if number < len(t.Gen.Recipes) {
				t.Recipes = append(t.Recipes, a.c)
			}
		}
		if number < len(t.Gen.Recipes) && r.first != nil {
			var ran *sample.Case
			if a != nil {
				ran = a.c
			}
			result.Unfit = t.Gen.Recipes[number].Unfit(c, ran, r.first)
		}
		return a, close, err
	case number < t.planned():
		if len(t.Ran) > 0 {
			i := number - openings
			t.Named[i] = r.ask(t, design.ChooseBases(t.Ran)[0], i)
		}
		return nil, 0, nil
	}
	d := t.design()
	rng := sample.NewRandom(r.Seed, t.Gen.Name, number)
	if len(d.Bases) == 0 || number >= d.Apart()+len(d.Rows) && number%2 == 0 {
		return r.search(t, rng, t.Gen.Generate(rng, number))
	}
	row := d.Row(number, t.Places, rng)
	a, result.Place, err = r.vary(t, row, number)
	for a == nil && len(row.Classes) > 2 { // the first two are what the row is for
		row.Classes = row.Classes[:len(row.Classes)-1]
		a, result.Place, err = r.vary(t, row, number)
	}
	for _, i := range row.Classes {
		if a == nil || len(r.lacks) == 0 || d.Has(a.c, i) { // a library may lack what the class asks for
			arg, class := d.Classes[i].Label()
			result.Tried = append(result.Tried, arg+": "+class)
		}
	}
	if result.Place != nil && number < d.Apart() {
		t.Places[number] = *result.Place
	}
	return a, 0, err
}

// Cases runs cases one after the other; starting is called before each, and
// ended after it.
func (r *Runner) Cases(t *Target, s Span, starting func(int), ended func(*report.Case) error) error {
	hopeless := 0 // cases from the first one on that no arguments help
	for n := s.From; n < s.To && hopeless < report.GiveUp; n++ {
		if n == s.From || n == t.Gen.Openings() {
			r.prepare(t, n, s, starting)
		}
		if n >= t.planned() {
			d := t.design()
			if t.Taught != nil {
				t.Taught(t.Learned)
				t.Taught = nil
			}
			if n >= d.Apart() && d.Rows == nil {
				d.Follow(t.Places)
			}
			if s.To == AllCases && n >= d.Apart() && n >= d.Cases() {
				break
			}
		}
		starting(n)
		result := r.run(t, n)
		if result.Beyond != "" && hopeless == n-s.From {
			hopeless++
		}
		if err := ended(&result); err != nil {
			return err
		}
	}
	return nil
}

// ask returns the values that the kernel's errors name for an argument: it calls
// the base with one that makes no sense.
func (r *Runner) ask(t *Target, base *sample.Case, i int) []sample.Value {
	nonsense, ok := design.Probe(t.operator.Schema.Func.Args[i].Type)
	if !ok {
		return nil
	}
	c := base.Clone()
	design.SetValue(i, nonsense)(c)
	_, err := r.Try(t, c)
	if text, thrown := engine.Message(err); err != nil && thrown {
		return design.Choices(nonsense, text)
	}
	return nil
}

// A Span is the cases of an op that run one after the other.
type Span struct {
	From, To int
	Skip     []int // earlier cases that end a worker
	Resumed  bool  // an earlier worker has run what they build on
}

// prepare runs what a case builds on and no worker has reported: the openings
// before it, and the classes apart, but for those that ended a worker. What
// this worker ran itself is not run again; starting is called before each.
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
			r.call(t, n, new(report.Case))
		}
	}
	for _, made := range [][]*sample.Case{t.Ran, t.Recipes} {
		slices.SortStableFunc(made, func(a, b *sample.Case) int { return a.Number - b.Number })
	}
}

// vary returns a call that has all classes of a row, with the first setting in
// which the kernel takes them, and its place; and with what else the kernel's
// errors ask for.
func (r *Runner) vary(t *Target, row design.Row, number int) (*attempt, *design.Place, error) {
	d := t.design()
	rng := sample.NewRandom(0, t.Gen.Name, number)
	var last error
	for _, s := range d.Settings(row, t.Places) {
		c := s.Base.Clone()
		c.Number = number
		if !d.Apply(c, row.Classes, s.Ways) || c.Huge() {
			continue
		}
		a, err := r.settle(t, c, rng, d.About(row), func(c *sample.Case) { d.Apply(c, row.Classes, s.Ways) })
		if err == nil {
			return a, &design.Place{Base: slices.Index(d.Bases, s.Base), Way: s.Ways[0]}, nil
		}
		last = err
	}
	return nil, nil, last
}

// settle changes a call a few times after the rules for errors, keeping what
// it is about: values of some arguments.
func (r *Runner) settle(t *Target, c *sample.Case, rng *rand.Rand, about []string, keep func(*sample.Case)) (*attempt, error) {
	ad := design.NewAdapter(t.operator.Schema, rng, design.Themes[0])
	ad.About = about
	for left := steps; ; left-- {
		a, err := r.Try(t, c)
		if err == nil {
			return a, nil
		}
		text, thrown := engine.Message(err)
		if left == 0 || !thrown || r.beyond(t.Gen.Name, text) != "" {
			return nil, err
		}
		next, ok := ad.Revise(c, text)
		if !ok {
			return nil, err
		}
		if keep(next); next.String() == c.String() || next.Huge() {
			return nil, err
		}
		c = next
	}
}

// steps is how often a call with a value class is changed after errors.
const steps = 3

// search changes a case until the kernel takes it. Of attempts that all failed
// it returns the error of the one that came closest, and how close: each error
// of the kernel's own that was got past counts, and an argument that could not
// be made does not.
func (r *Runner) search(t *Target, rng *rand.Rand, c *sample.Case) (a *attempt, close int, err error) {
	ad := design.NewAdapter(t.operator.Schema, rng, t.Gen.Theme(rng, c.Number))
	var last, closest error
	r.closest, r.first = nil, nil
	best := c
	for range tries {
		a, err := r.Try(t, c)
		if err == nil {
			return a, 0, nil
		}
		r.first = cmp.Or(r.first, err)
		text, thrown := engine.Message(err)
		if !thrown || r.beyond(t.Gen.Name, text) != "" {
			r.closest = c
			return nil, close, err
		}
		news := ad.Known(text) == 0
		news = news && !dispatched(text)
		if r.called && news {
			close++
		}
		if closest == nil || r.called && news {
			closest, r.closest = err, c
		}
		if last != nil && !news && sample.OneIn(rng, 2) {
			c = best // no progress: go back
		} else {
			best, last = c, err
		}
		c = ad.Adapt(c, text)
	}
	return nil, close, closest
}

// dispatched reports whether an error is the dispatcher's or that of one of its
// fallbacks, of a call that came to no kernel.
func dispatched(text string) bool {
	return design.ContainsAny(text, []string{"Could not run '", "There were no tensor arguments to this function", "ZeroTensors are immutable",
		"Found a custom (non-ATen) operator", "is not yet supported with named tensors"})
}

// Try makes the case's tensors and calls the op, on meta too where the level
// asks for it.
func (r *Runner) Try(t *Target, c *sample.Case) (*attempt, error) {
	r.called = false
	if r.Trying != nil {
		r.Trying(c)
		defer r.Trying(nil)
	}
	m := maker{engine: r.Engine, room: &r.room}
	defer m.release()
	c, args, err := m.made(c)
	r.lacks = m.lacks
	if err != nil {
		return nil, err
	}
	if r.Trying != nil && len(r.lacks) > 0 {
		r.Trying(c)
	}
	a := &attempt{c: c}
	var twins []any
	if r.Level >= asserts.Meta {
		twins, a.why = r.twins(&m, c, args)
	}
	if r.Cpu {
		twins, a.why = nil, "a call of the op on meta ended its process"
	}
	if err := r.Engine.Seed(int64(r.Seed)); err != nil {
		return nil, err
	}
	r.called = true
	r.on(engine.CPU)
	out, err := r.Engine.Call(t.Gen.Name, args, min(r.Level, asserts.Content))
	if err != nil {
		return nil, err
	}
	out.Seen.Number()
	out.Seen.Earlier = r.earlier.now(r.Engine, t)
	r.keep(t, &out)
	a.cpu = &out.Seen
	if twins != nil {
		r.on(engine.Meta)
		r.callMeta(t, a, twins)
	}
	return a, nil
}

// on says where the op is called next.
func (r *Runner) on(device string) {
	if r.Calling != nil {
		r.Calling(device)
	}
}

// judge holds an attempt against the op's checks; it returns the violations and
// counts into the result.
func (r *Runner) judge(t *Target, a *attempt, result *report.Case) []*asserts.Violation {
	result.CPU = new(report.Tally)
	found := r.judgeOn(t, a, a.cpu, engine.CPU, result.CPU, result)
	if a.meta == nil {
		return found
	}
	result.Meta = new(report.Tally)
	for _, v := range r.judgeOn(t, a, a.meta, engine.Meta, result.Meta, result) {
		if !slices.ContainsFunc(found, func(w *asserts.Violation) bool { return report.SameFault(v, w) }) {
			found = append(found, v)
		}
	}
	verdict := asserts.JudgeMeta(t.judged, a.cpu, a.meta, r.Policy)
	result.Meta.Add(&report.Tally{Judged: verdict.Judged, Skips: verdict.Skips})
	for _, v := range verdict.Violations {
		v.Device = "cpu, meta"
	}
	return append(found, t.unwaived(verdict.Violations, result)...)
}

func (r *Runner) judgeOn(t *Target, a *attempt, seen *asserts.Seen, device string, count *report.Tally, result *report.Case) []*asserts.Violation {
	alone := *seen
	alone.Alone = true // a worker makes one call at a time
	verdict := asserts.Judge(t.judged, &alone, r.Policy)
	count.Judged = verdict.Judged
	count.Skips = verdict.Skips
	count.Add(&report.Tally{Skips: t.outOfSight(seen)})
	for _, v := range verdict.Violations {
		v.Device = device
	}
	found := slices.DeleteFunc(verdict.Violations, func(v *asserts.Violation) bool {
		reason := r.Engine.Harmless(t.judged, v)
		if reason == "" {
			return false
		}
		count.Judged[v.Code]--
		count.Add(&report.Tally{Skips: []asserts.Skip{{Code: v.Code, Reason: reason, Count: 1}}})
		return true
	})
	return t.unwaived(found, result)
}

// unwaived leaves out what an allowlist waives, and counts it. Every check is
// judged, those waived too: one that is quiet because another names the
// culprit stays so where that other is waived.
func (t *Target) unwaived(found []*asserts.Violation, result *report.Case) []*asserts.Violation {
	return slices.DeleteFunc(found, func(v *asserts.Violation) bool {
		i := slices.IndexFunc(t.waived, func(e asserts.Excuse) bool { return e.Code == v.Code })
		if i >= 0 {
			result.Waived = report.AddSkip(result.Waived, asserts.Skip{Code: v.Code, Reason: t.waived[i].Reason, Count: 1})
		}
		return i >= 0
	})
}

func (r *Runner) finding(t *Target, c *sample.Case, v *asserts.Violation, number int) *report.Finding {
	for _, o := range []*asserts.Observation{&v.Before, &v.After, &v.Other} {
		o.Content = nil
	}
	v.Repro = fmt.Sprintf("-op %s -case %d", t.Gen.Name, number) + report.SeedFlag(r.Seed)
	return &report.Finding{Violation: v, Case: number, Call: c.String(), Recipe: c.Recipe(), Device: v.Device, Times: 1}
}

// AllCases, as the end of a run, is as many cases as an op's design has.
const AllCases = 1 << 30
