package suite

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
)

// tries is how many times a case is changed after errors before it is given up.
const tries = 20

// A runner runs cases in this process.
type runner struct {
	engine Engine
	level  asserts.Level
	policy *asserts.Policy
	seed   uint64
	room   []byte // for the bytes of a tensor

	trying  func(*Case)         // called before each try, and with nil after it; may be nil
	calling func(device string) // called before the op is, on each device; may be nil
	called  bool                // the last try came as far as the call
	cpu     bool                // no calls on meta: one ended its process
	limits  map[string]string   // errors of the op with why no arguments avoid them, or ""

	// shown is called with what a case found before a smaller call is looked for
	// that finds it, which may end the worker; may be nil.
	shown func(*caseResult)

	earlier kept // what the last call returned

	closest *Case // of the attempts of the last search, all of which failed
	first   error // of the last search: what its first attempt failed with

	lacks map[string]int // what the last try wanted and the library lacks, by how often
}

// A caseResult is what came of one case.
type caseResult struct {
	Case    int            `json:"case"`
	Tried   []string       `json:"tried,omitempty"` // value classes: "self: const:NaN"
	Idle    bool           `json:"idle,omitempty"`  // there was nothing to call
	Ran     bool           `json:"ran,omitempty"`
	Error   string         `json:"error,omitempty"`   // of a case that never ran: of the attempt that came closest
	Close   int            `json:"close,omitempty"`   // how close that came
	Closest string         `json:"closest,omitempty"` // the attempt itself, as a case of a file of cases
	Unfit   string         `json:"unfit,omitempty"`   // why the case of a recipe did not run as it is written
	CPU     *tally         `json:"cpu,omitempty"`
	Meta    *tally         `json:"meta,omitempty"`
	Lacks   map[string]int `json:"lacks,omitempty"`  // what the case wanted and the library has not, by tensors
	NoMeta  string         `json:"nometa,omitempty"` // why the call on meta was not compared
	Waived  []asserts.Skip `json:"waived,omitempty"` // violations that an allowlist waives
	Place   *Place         `json:"place,omitempty"`  // of what is tried
	Beyond  string         `json:"beyond,omitempty"` // why no arguments avoid the error
	Found   []*Finding     `json:"found,omitempty"`
}

// fail notes how a case of an op failed.
func (r *runner) fail(c *caseResult, op string, err error) {
	if err != nil {
		text, _ := message(err)
		c.Error, c.Beyond = clipped(err.Error()), r.beyond(op, text)
	}
}

// A bounded engine knows errors of its ops that no arguments avoid.
type bounded interface {
	// Beyond says why no arguments take an op past an error; "" where some may.
	Beyond(op, text string) string
}

func (r *runner) beyond(op, text string) string {
	why, known := r.limits[text]
	if known {
		return why
	}
	if e, ok := r.engine.(bounded); ok {
		why = e.Beyond(op, text)
	}
	if why == "" && lost(text) {
		why = "its kernel says that this build lacks what it needs, or that it is gone"
	}
	if r.limits == nil || len(r.limits) >= mostReadings {
		r.limits = make(map[string]string)
	}
	r.limits[text] = why
	return why
}

// A tally says how many tensors each check was held against on one device.
type tally struct {
	Judged asserts.Counts `json:"judged"`
	Skips  []asserts.Skip `json:"skips,omitempty"`
}

// A Finding is a violation, with the case that shows it.
type Finding struct {
	Violation *asserts.Violation `json:"violation"`
	Case      int                `json:"case"`
	Call      string             `json:"call"`            // the smallest call that shows it
	Recipe    string             `json:"recipe"`          // the same as a case of a file of cases
	Device    string             `json:"device"`          // "cpu", "meta", or "cpu, meta" for OA011
	Times     int                `json:"times"`           // cases that show it
	Known     bool               `json:"known,omitempty"` // a baseline has it
}

// An attempt is one call that did not throw.
type attempt struct {
	c    *Case
	cpu  *asserts.Seen
	meta *asserts.Seen
	why  string // there is no meta
}

// run makes case number n of an op, changes it until the kernel takes it, and
// judges the call.
func (r *runner) run(t *target, number int) caseResult {
	result := caseResult{Case: number}
	a, close, err := r.call(t, number, &result)
	if a == nil && err == nil {
		result.Idle = true
		return result
	}
	if err != nil {
		result.Close = close
		r.fail(&result, t.gen.name, err)
		if r.closest != nil {
			result.Closest = r.closest.recipe()
		}
		return result
	}
	if result.Ran = true; t.single {
		a = r.again(t, a)
	}
	result.Lacks, result.NoMeta = r.lacks, a.why
	found := r.judge(t, a, &result)
	for _, v := range found {
		result.Found = append(result.Found, r.finding(t, a.c, v, number))
	}
	isNew := func(f *Finding) bool { return !slices.ContainsFunc(t.found, f.same) }
	if r.shown != nil && !shared(a.c) && slices.ContainsFunc(result.Found, isNew) {
		r.shown(&result)
	}
	result.Found = nil
	if len(found) > 0 {
		r.earlier.release() // what is wrong already
	}
	for _, v := range found {
		f := &Finding{Violation: v, Times: 1}
		if i := slices.IndexFunc(t.found, f.same); i >= 0 {
			again := *t.found[i]
			result.Found = append(result.Found, &again)
			continue
		}
		c := a.c
		if !t.asItIs {
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
func (r *runner) call(t *target, number int, result *caseResult) (a *attempt, close int, err error) {
	openings := t.gen.openings()
	switch {
	case number < openings:
		rng := newRandom(0, t.gen.name, number)
		c := t.gen.generate(rng, number)
		a, close, err := r.search(t, rng, c)
		if err == nil {
			t.Ran = append(t.Ran, a.c)
			if number < len(t.gen.recipes) {
				t.Recipes = append(t.Recipes, a.c)
			}
		}
		if number < len(t.gen.recipes) && r.first != nil {
			var ran *Case
			if a != nil {
				ran = a.c
			}
			result.Unfit = t.gen.recipes[number].unfit(c, ran, r.first)
		}
		return a, close, err
	case number < t.planned():
		if len(t.Ran) > 0 {
			i := number - openings
			t.Named[i] = r.ask(t, chooseBases(t.Ran)[0], i)
		}
		return nil, 0, nil
	}
	d := t.design()
	rng := newRandom(r.seed, t.gen.name, number)
	if len(d.bases) == 0 || number >= d.apart()+len(d.rows) && number%2 == 0 {
		return r.search(t, rng, t.gen.generate(rng, number))
	}
	row := d.row(number, t.Places, rng)
	a, result.Place, err = r.vary(t, row, number)
	for a == nil && len(row.classes) > 2 { // the first two are what the row is for
		row.classes = row.classes[:len(row.classes)-1]
		a, result.Place, err = r.vary(t, row, number)
	}
	for _, i := range row.classes {
		if a == nil || len(r.lacks) == 0 || d.has(a.c, i) { // a library may lack what the class asks for
			arg, class := d.classes[i].label()
			result.Tried = append(result.Tried, arg+": "+class)
		}
	}
	if result.Place != nil && number < d.apart() {
		t.Places[number] = *result.Place
	}
	return a, 0, err
}

// cases runs cases one after the other; starting is called before each, and
// ended after it.
func (r *runner) cases(t *target, s span, starting func(int), ended func(*caseResult) error) error {
	hopeless := 0 // cases from the first one on that no arguments help
	for n := s.From; n < s.To && hopeless < giveUp; n++ {
		if n == s.From || n == t.gen.openings() {
			r.prepare(t, n, s, starting)
		}
		if n >= t.planned() {
			d := t.design()
			if t.taught != nil {
				t.taught(t.learned)
				t.taught = nil
			}
			if n >= d.apart() && d.rows == nil {
				d.follow(t.Places)
			}
			if s.To == AllCases && n >= d.apart() && n >= d.cases() {
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
func (r *runner) ask(t *target, base *Case, i int) []Value {
	nonsense, ok := probe(t.operator.Schema.Func.Args[i].Type)
	if !ok {
		return nil
	}
	c := base.clone()
	setValue(i, nonsense)(c)
	_, err := r.try(t, c)
	if text, thrown := message(err); err != nil && thrown {
		return choices(nonsense, text)
	}
	return nil
}

// A span is the cases of an op that run one after the other.
type span struct {
	From, To int
	Skip     []int // earlier cases that end a worker
	Resumed  bool  // an earlier worker has run what they build on
}

// prepare runs what a case builds on and no worker has reported: the openings
// before it, and the classes apart, but for those that ended a worker. What
// this worker ran itself is not run again; starting is called before each.
func (r *runner) prepare(t *target, from int, s span, starting func(int)) {
	if from < t.gen.openings() || s.Resumed {
		return
	}
	for n := range from {
		if n >= t.planned() && n >= t.design().apart() {
			break
		}
		if n < s.From && !slices.Contains(s.Skip, n) {
			starting(n)
			r.call(t, n, new(caseResult))
		}
	}
	for _, made := range [][]*Case{t.Ran, t.Recipes} {
		slices.SortStableFunc(made, func(a, b *Case) int { return a.Number - b.Number })
	}
}

// vary returns a call that has all classes of a row, with the first setting in
// which the kernel takes them, and its place; and with what else the kernel's
// errors ask for.
func (r *runner) vary(t *target, row row, number int) (*attempt, *Place, error) {
	d := t.design()
	rng := newRandom(0, t.gen.name, number)
	var last error
	for _, s := range d.settings(row, t.Places) {
		c := s.base.clone()
		c.Number = number
		if !d.apply(c, row.classes, s.ways) || c.huge() {
			continue
		}
		a, err := r.settle(t, c, rng, d.about(row), func(c *Case) { d.apply(c, row.classes, s.ways) })
		if err == nil {
			return a, &Place{Base: slices.Index(d.bases, s.base), Way: s.ways[0]}, nil
		}
		last = err
	}
	return nil, nil, last
}

// settle changes a call a few times after the rules for errors, keeping what
// it is about: values of some arguments.
func (r *runner) settle(t *target, c *Case, rng *rand.Rand, about []string, keep func(*Case)) (*attempt, error) {
	ad := newAdapter(t.operator.Schema, rng, themes[0])
	ad.about = about
	for left := steps; ; left-- {
		a, err := r.try(t, c)
		if err == nil {
			return a, nil
		}
		text, thrown := message(err)
		if left == 0 || !thrown || r.beyond(t.gen.name, text) != "" {
			return nil, err
		}
		next, ok := ad.revise(c, text)
		if !ok {
			return nil, err
		}
		if keep(next); next.String() == c.String() || next.huge() {
			return nil, err
		}
		c = next
	}
}

// mostElements is what a tensor of a case has at most; more finds no more, and
// kernels of cubic time take forever.
const mostElements = 1 << 18

func (c *Case) huge() bool {
	return slices.ContainsFunc(c.tensors(), func(t *TensorSpec) bool { return size(t.Sizes) > mostElements })
}

// steps is how often a call with a value class is changed after errors.
const steps = 3

func clipped(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "?")
	if len(text) > 400 {
		text = text[:400] + "..."
	}
	return text
}

// search changes a case until the kernel takes it. Of attempts that all failed
// it returns the error of the one that came closest, and how close: each error
// of the kernel's own that was got past counts, and an argument that could not
// be made does not.
func (r *runner) search(t *target, rng *rand.Rand, c *Case) (a *attempt, close int, err error) {
	ad := newAdapter(t.operator.Schema, rng, t.gen.theme(rng, c.Number))
	var last, closest error
	r.closest, r.first = nil, nil
	best := c
	for range tries {
		a, err := r.try(t, c)
		if err == nil {
			return a, 0, nil
		}
		r.first = cmp.Or(r.first, err)
		text, thrown := message(err)
		if !thrown || r.beyond(t.gen.name, text) != "" {
			r.closest = c
			return nil, close, err
		}
		news := ad.known(text) == 0
		news = news && !dispatched(text)
		if r.called && news {
			close++
		}
		if closest == nil || r.called && news {
			closest, r.closest = err, c
		}
		if last != nil && !news && oneIn(rng, 2) {
			c = best // no progress: go back
		} else {
			best, last = c, err
		}
		c = ad.adapt(c, text)
	}
	return nil, close, closest
}

// dispatched reports whether an error is the dispatcher's or that of one of its
// fallbacks, of a call that came to no kernel.
func dispatched(text string) bool {
	return containsAny(text, []string{"Could not run '", "There were no tensor arguments to this function", "ZeroTensors are immutable",
		"Found a custom (non-ATen) operator", "is not yet supported with named tensors"})
}

// try makes the case's tensors and calls the op, on meta too where the level
// asks for it.
func (r *runner) try(t *target, c *Case) (*attempt, error) {
	r.called = false
	if r.trying != nil {
		r.trying(c)
		defer r.trying(nil)
	}
	m := maker{engine: r.engine, room: &r.room}
	defer m.release()
	c, args, err := m.made(c)
	r.lacks = m.lacks
	if err != nil {
		return nil, err
	}
	if r.trying != nil && len(r.lacks) > 0 {
		r.trying(c)
	}
	a := &attempt{c: c}
	var twins []any
	if r.level >= asserts.Meta {
		twins, a.why = r.twins(&m, c, args)
	}
	if r.cpu {
		twins, a.why = nil, "a call of the op on meta ended its process"
	}
	if err := r.engine.Seed(int64(r.seed)); err != nil {
		return nil, err
	}
	r.called = true
	r.on(onCPU)
	out, err := r.engine.Call(t.gen.name, args, min(r.level, asserts.Content))
	if err != nil {
		return nil, err
	}
	out.Seen.Number()
	out.Seen.Earlier = r.earlier.now(r.engine, t)
	r.keep(t, &out)
	a.cpu = &out.Seen
	if twins != nil {
		r.on(onMeta)
		r.callMeta(t, a, twins)
	}
	return a, nil
}

// Devices that ops are called on.
const (
	onCPU  = "cpu"
	onMeta = "meta"
)

// on says where the op is called next.
func (r *runner) on(device string) {
	if r.calling != nil {
		r.calling(device)
	}
}

// judge holds an attempt against the op's checks; it returns the violations and
// counts into the result.
func (r *runner) judge(t *target, a *attempt, result *caseResult) []*asserts.Violation {
	result.CPU = new(tally)
	found := r.judgeOn(t, a, a.cpu, onCPU, result.CPU, result)
	if a.meta == nil {
		return found
	}
	result.Meta = new(tally)
	for _, v := range r.judgeOn(t, a, a.meta, onMeta, result.Meta, result) {
		if !slices.ContainsFunc(found, func(w *asserts.Violation) bool { return sameFault(v, w) }) {
			found = append(found, v)
		}
	}
	verdict := asserts.JudgeMeta(t.judged, a.cpu, a.meta, r.policy)
	result.Meta.add(&tally{Judged: verdict.Judged, Skips: verdict.Skips})
	for _, v := range verdict.Violations {
		v.Device = "cpu, meta"
	}
	return append(found, t.unwaived(verdict.Violations, result)...)
}

// sameFault reports whether two violations are about one rule and one subject.
func sameFault(v, w *asserts.Violation) bool {
	return v.Code == w.Code && v.Subject.Return == w.Subject.Return && v.Subject.Index == w.Subject.Index
}

func (r *runner) judgeOn(t *target, a *attempt, seen *asserts.Seen, device string, count *tally, result *caseResult) []*asserts.Violation {
	alone := *seen
	alone.Alone = true // a worker makes one call at a time
	verdict := asserts.Judge(t.judged, &alone, r.policy)
	count.Judged = verdict.Judged
	count.Skips = verdict.Skips
	count.add(&tally{Skips: t.outOfSight(seen)})
	for _, v := range verdict.Violations {
		v.Device = device
	}
	found := slices.DeleteFunc(verdict.Violations, func(v *asserts.Violation) bool {
		reason := r.engine.Harmless(t.judged, v)
		if reason == "" {
			return false
		}
		count.Judged[v.Code]--
		count.add(&tally{Skips: []asserts.Skip{{Code: v.Code, Reason: reason, Count: 1}}})
		return true
	})
	return t.unwaived(found, result)
}

// unwaived leaves out what an allowlist waives, and counts it. Every check is
// judged, those waived too: one that is quiet because another names the
// culprit stays so where that other is waived.
func (t *target) unwaived(found []*asserts.Violation, result *caseResult) []*asserts.Violation {
	return slices.DeleteFunc(found, func(v *asserts.Violation) bool {
		i := slices.IndexFunc(t.waived, func(e asserts.Excuse) bool { return e.Code == v.Code })
		if i >= 0 {
			result.Waived = addSkip(result.Waived, asserts.Skip{Code: v.Code, Reason: t.waived[i].Reason, Count: 1})
		}
		return i >= 0
	})
}

func (r *runner) finding(t *target, c *Case, v *asserts.Violation, number int) *Finding {
	for _, o := range []*asserts.Observation{&v.Before, &v.After, &v.Other} {
		o.Content = nil
	}
	v.Repro = fmt.Sprintf("-op %s -case %d", t.gen.name, number) + seedFlag(r.seed)
	return &Finding{Violation: v, Case: number, Call: c.String(), Recipe: c.recipe(), Device: v.Device, Times: 1}
}

// DefaultSeed is the seed of a run that names none.
const DefaultSeed = 1
