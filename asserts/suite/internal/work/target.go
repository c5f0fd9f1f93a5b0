package work

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A Target is an op that is ready to be run.
type Target struct {
	operator engine.Operator
	devices  []engine.Device
	Gen      *design.CaseGenerator
	judged   *asserts.Op
	unthrown *asserts.Op // with the checks of a call that threw
	sharing  *asserts.Op // with that of what its returns share, if it decomposes; else nil
	waived   []asserts.Excuse
	*design.Learned
	Listener
	plan      *design.Design    // once the openings are over
	threw     []*judgedCall     // calls of the case that threw
	found     []*report.Finding // by this worker, which minimises each once
	noFake    string            // why no fake can be called
	fakeCalls map[fakeCallKey]*fakeCall
	made      map[string]*cachedResult // by the key of its call
	budgets   map[*probe.Row]budget
	otherwise bool     // a call was made with other settings
	steady    *attempt // the last with reproducible results
	aligned   bool     // the op refuses tensors that are not aligned for vectors
	pairs     pairs
	metaThrew int             // calls of the kernel for meta that threw
	metaRan   bool            // one returned
	AsItIs    bool            // findings keep the calls that showed them
	Single    bool            // a single case was requested: no earlier call has results
	Without   []engine.Device // no calls there: one ended its process
}

// A Listener is called before steps that may end the process. Its functions may be nil.
type Listener struct {
	Trying    func(*sample.Case)       // before each try, and with nil after it
	Calling   func(on engine.Device)   // before the op is called
	Twinning  func(on engine.Device)   // before it is called with twins
	Found     func(*report.CaseResult) // with the findings of a case, before the search for a smaller call
	OnLearned func(*design.Learned)    // once, after the openings
	Apart     func(*Calls)             // with a call to repeat in a process that has not run the op
}

// Calls are calls of an op, one after the other, each with new tensors.
type Calls struct {
	Made   []Call
	Last   SeenJSON // of the last call; nil if one throws
	Varied int      // what differs between two of them, if their results are the same: an argument by its number from 1
}

// A Call is a call of a case.
type Call struct {
	Case *sample.Case
	Turn int // the offset of its default floating-point values
}

// Pairs are calls of an op that differ in one thing alone, which the key of a cache may lack: the
// value of an argument, the contents of a tensor, or the dtype of all tensors.
type pairs struct {
	firsts map[string]*attempt // by the thing, and what is equal
	alike  map[int]int         // pairs with equal results, by the thing: as those of a stale entry are
	unlike map[int]int         // other pairs
}

// A SeenJSON is observations that another process reads.
type SeenJSON struct{ *asserts.Seen }

// GobEncode writes them as JSON.
func (s SeenJSON) GobEncode() ([]byte, error) { return json.Marshal(s.Seen) }

// GobDecode reads what GobEncode writes.
func (s *SeenJSON) GobDecode(text []byte) error { return json.Unmarshal(text, &s.Seen) }

// NewTarget prepares an op: its plan without the checks whose violations the engine cannot show, and its recipes.
func NewTarget(e engine.Engine, operator engine.Operator, p engine.Checks, book *design.Recipes) *Target {
	p.Op.Autograd, p.Op.Raises = operator.Autograd, operator.Raises
	p.Op.Declared = cmp.Or(operator.Declared, p.Op.Declared)
	operator.Unseen = slices.DeleteFunc(slices.Clone(operator.Unseen), func(u engine.Unseen) bool {
		return u.On != 0 && !slices.ContainsFunc(p.Op.Checks, func(c asserts.Check) bool { return c.Code == u.Code })
	})
	p.Op.Checks = slices.DeleteFunc(slices.Clone(p.Op.Checks), operator.CannotShow)
	hold := asserts.CodesOf(asserts.UndeclaredWrite)
	if _, ok := e.(engine.ArgumentKeeper); ok {
		hold |= asserts.CodesOf(asserts.InputImpl, asserts.InputStorage, asserts.KeptArgument)
	}
	t := &Target{
		operator: operator, devices: e.Devices(), Gen: design.NewGenerator(operator.Schema, book),
		judged: e.Subjects(&p.Op), unthrown: e.Subjects(p.Op.Thrown(hold)), waived: p.Waived,
		fakeCalls: make(map[fakeCallKey]*fakeCall), made: make(map[string]*cachedResult),
		budgets: make(map[*probe.Row]budget),
		pairs:   pairs{make(map[string]*attempt), make(map[int]int), make(map[int]int)},
		Learned: &design.Learned{Offered: make(map[int][]sample.Value), Origins: make(map[int]report.Origin)},
	}
	if p.Op.Composite && (operator.Added || operator.Schema.Pos.Filename != "") { // what PyTorch's own return is known
		t.sharing = e.Subjects(p.Op.Sharing())
	}
	if f, ok := e.(engine.FakeCaller); ok {
		t.noFake = f.NoFake(t.judged)
	}
	return t
}

// planned is the number of cases before the design is made: the openings, and a query about each argument.
func (t *Target) planned() int { return t.Gen.Openings() + len(t.operator.Schema.Func.Args) }

// The limits of a case, as cost returns them.
const (
	WordVaried = "varied" // it has value classes that an op need not accept
	WordCostly = "costly" // it may justifiably take long
)

// Cost returns how a case may exceed limits without a fault of the kernel, or "".
func (t *Target) Cost(number int) string {
	d := t.plan
	if number < t.planned() || d == nil || len(d.Bases) == 0 {
		return ""
	}
	if number >= d.Apart()+len(d.Rows) || slices.ContainsFunc(d.Row(number, nil, nil).Classes,
		func(i int) bool { return d.Classes[i].Costly() }) {
		return WordCostly
	}
	return WordVaried
}

// design returns the cases after those.
func (t *Target) design() *design.Design {
	if t.plan == nil {
		t.Ran = design.ChooseBases(t.Ran)
		t.plan = design.NewDesign(t.operator, t.devices, t.planned(), t.Learned)
	}
	return t.plan
}

// outOfSight returns the skips of checks whose violations a call could not show.
func (t *Target) outOfSight(seen *asserts.Seen) []asserts.Skip {
	var skips []asserts.Skip
	for _, u := range t.operator.Unseen {
		if n := t.defined(u.On, seen); n > 0 {
			skips = append(skips, asserts.Skip{Code: u.Code, Reason: "not observable: " + u.Reason, Count: n})
		}
	}
	return skips
}

// defined counts the tensors of an argument; a check without an argument counts as one.
func (t *Target) defined(on asserts.Ref, seen *asserts.Seen) int {
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

// An attempt is the calls of a case that did not throw, one on each device.
type attempt struct {
	c      *sample.Case
	calls  []deviceCall   // the first is on the case's own device
	fake   *fakeCall      // nil: the engine has none
	rules  *fakeCall      // nil: the engine has none
	memory memory         // of the first call
	lacks  map[string]int // tensors that the call needed and the library lacks, with their number
	key    string         // of c
	before *cachedResult  // an equal call that replaces this one; or nil
}

// A memory holds the faults of a call in memory, and why that of some storage was not watched, or not filled.
type memory struct {
	faults              []asserts.Fault
	unwatched, unfilled string
}

type deviceCall struct {
	on   engine.Device
	args []any
	seen *asserts.Seen // nil: it was not made, or threw
	why  string        // why it was not made
	said string        // the error of the op's own kernel there
	left []asserts.Fault
}

// findings makes findings of violations, unless they are waived.
func (t *Target) findings(violations []*asserts.Violation, result *report.CaseResult,
	on ...engine.Device) []*report.Finding {
	var all []*report.Finding
	for _, v := range t.unwaived(violations, result) {
		f := &report.Finding{Violation: v, Devices: on}
		v.Device = f.On()
		all = append(all, f)
	}
	return all
}

// unwaived removes and counts the violations that an allowlist waives. Waived checks are judged,
// since they prevent others from reporting the same fault.
func (t *Target) unwaived(found []*asserts.Violation, result *report.CaseResult) []*asserts.Violation {
	return slices.DeleteFunc(found, func(v *asserts.Violation) bool {
		i := slices.IndexFunc(t.waived, func(e asserts.Excuse) bool { return e.Covers(v.Code, v.Symptom) })
		if i >= 0 {
			s := asserts.Skip{Code: v.Code, Symptom: v.Symptom, Reason: t.waived[i].Reason, Count: 1}
			result.Waived = report.AddSkip(result.Waived, s)
		}
		return i >= 0
	})
}

// A fakeCall is the call of an op's fake, or the calls of its rules, with the arguments of a case.
type fakeCall struct {
	seen   *compare.Fake // by the fake; nil: it was not called
	faults []asserts.Fault
	why    string // why they were not called, or ""
}

// A fakeCallKey is the key of a fakeCall that cases share.
type fakeCallKey struct {
	on    engine.Device
	shape string
}

// A judgedCall is an additional call of a case, with its verdict.
type judgedCall struct {
	c       *sample.Case
	verdict asserts.Verdict
}

// A cachedResult is the result of a call, shared by cases that make the same call: a call has many classes,
// and errors lead to the same call again.
type cachedResult struct {
	c      *sample.Case
	err    error             // if it threw
	result report.CaseResult // if it ran
}
