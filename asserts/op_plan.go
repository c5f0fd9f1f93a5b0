package asserts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/opassert/opassert/internal/usual"
)

// A plan is an Op with its names resolved, made at the first call.
type plan struct {
	op             *Op
	args, results  []subjectPlan
	returns        []usualReturn // the results as Call.usual needs them
	usual          bool          // Call.usual can judge calls at the identity level
	judgesContents bool          // Call.usual cannot judge calls at the content level
	lists          bool          // some subject is a list
	returnsLists   bool          // some return is a list
	shape          int64         // of the record of every call; varies where it depends on lists
	singles        int           // number of Observations of a call outside of lists
	unheld         usualSkipped  // skips of a call without use counts at the identity level
	lines          Counts        // number of lines of the op's plan, by code, without the waived ones
	waived         Codes         // judged like the others, but not reported
	bad            []string      // references that could not be resolved

	_          [64]byte // separates what every call reads from what every call writes
	calls      [counters]atomic.Uint64
	begun      atomic.Uint64 // while sampling
	sampledOut atomic.Uint64
	again      atomic.Int64         // number of calls whose tensors are observed again
	last       atomic.Pointer[past] // the last of those
	skipped    [len(usualSkips)]atomic.Uint64
	registered bool // under planned's lock
}

// Counters of a plan's judged calls.
const (
	atIdentity = iota // below the content level
	unheld            // of these, those not yet among them with the skips of plan.unheld
	atContent
	counters
)

// varies is the shape of an op's records if it depends on the lengths of lists.
const varies = -1

// shape combines the numbers of observations in a record: before the call, and in all.
func shape(before, all int) int64 { return int64(before)<<32 | int64(all) }

// usualReturn holds what usual compares a return with.
type usualReturn struct {
	maxImpl, maxStorage int32 // greater use counts need the judge
	self, base          int   // the only argument that the return must be, or be a view of; or noArgument
	list                bool
}

const noArgument = -1

type subjectPlan struct {
	Subject
	codes    Codes
	against  map[Code][]int // positions in Op.Args or Op.Results that a check about a pair compares it with
	declared []int          // positions in Op.Args that a return may share with
}

// made returns the op's plan, or nil if not yet made. A copy of an Op makes its own.
func (op *Op) made() *plan {
	return (*plan)(atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&op.plan))))
}

func (op *Op) resolve() *plan {
	slot := (*unsafe.Pointer)(unsafe.Pointer(&op.plan))
	for {
		old := atomic.LoadPointer(slot)
		if p := op.made(); p != nil && p.op == op {
			return p
		}
		atomic.CompareAndSwapPointer(slot, old, unsafe.Pointer(newPlan(op)))
	}
}

// Validate returns the faults of the op's plan: lines about subjects that the op does not have, or
// that the check is not about. The judge leaves such lines out.
func (op *Op) Validate() error {
	if bad := newPlan(op).bad; len(bad) > 0 {
		return fmt.Errorf("%s: %s", op.Name, strings.Join(bad, "; "))
	}
	return nil
}

func newPlan(op *Op) *plan {
	p := &plan{
		op:      op,
		waived:  CodesOf(op.Waived...),
		args:    make([]subjectPlan, len(op.Args)),
		results: make([]subjectPlan, len(op.Results)),
	}
	for i, s := range op.Args {
		p.args[i].Subject = s
		p.count(s, 2)
	}
	for i, s := range op.Results {
		p.results[i].Subject = s
		p.count(s, 1)
		p.returnsLists = p.returnsLists || s.List //mutate:equivalent true: only saves time
		for j := range op.Args {
			if mayShare(&s, &op.Args[j]) {
				p.results[i].declared = append(p.results[i].declared, j)
			}
		}
	}
	for _, c := range op.lines() {
		switch err := p.add(c); {
		case err != "":
			p.bad = append(p.bad, err)
		case !p.waived.Has(c.Code):
			p.lines[c.Code]++
		}
	}
	for i := range p.results {
		// A preset may consider the op a view where the schema does not.
		r := &p.results[i]
		r.declared = slices.Concat(r.declared, r.against[ViewStorage], r.against[ReturnedSelf])
	}
	p.returns, p.usual = p.usualReturns()
	for _, q := range p.returns {
		if q.maxImpl == 1 {
			p.unheld[uncountedImpl]++
		}
		if q.maxStorage == 1 {
			p.unheld[uncountedStorage]++
		}
	}
	p.judgesContents = p.unsettled(Content)
	p.shape = varies
	if p.usual && !p.lists {
		p.shape = shape(len(p.args), p.singles)
	}
	return p
}

// count counts a subject that a call records a number of times.
func (p *plan) count(s Subject, times int) {
	if s.List {
		p.lists = true
	} else {
		p.singles += times
	}
}

// add resolves one line, and returns its fault or "".
func (p *plan) add(c Check) string {
	about := c.Code.About()
	if about == 0 {
		return fmt.Sprintf("%v is not judged on a call", c.Code)
	}
	on := p.subject(c.On)
	if _, isArg := c.On.Arg(); on == nil || isArg != (about&Argument != 0) {
		return fmt.Sprintf("%v is not about subject %d", c.Code, c.On)
	}
	if about&(AgainstArgument|AgainstReturn) != 0 {
		against := p.subject(c.Against)
		i, isArg := c.Against.Arg()
		if !isArg {
			i, _ = c.Against.Result()
		}
		if against == nil || isArg != (about&AgainstArgument != 0) {
			return fmt.Sprintf("%v on %q is not compared with subject %d", c.Code, on.Name, c.Against)
		}
		if on.against == nil {
			on.against = make(map[Code][]int)
		}
		on.against[c.Code] = append(on.against[c.Code], i)
	}
	on.codes |= CodesOf(c.Code)
	return ""
}

func (p *plan) subject(r Ref) *subjectPlan { return referred(r, p.args, p.results) }

// usualFacts are those that Call.usual examines.
const usualFacts = usual.SameImpl | usual.SameStorage | usual.SameVersion | usual.SameContents | usual.SameMetadata |
	usual.Counted | usual.Filled | usual.NotKept | usual.Unshared | usual.Unreturned | usual.OneHolder |
	usual.OwnStorage | usual.IsArgument | usual.OnArgument | usual.OffArguments | usual.OffReturns | usual.WithinStorage

// usualReturns returns the results as Call.usual needs them, or false if the judge must see every call.
func (p *plan) usualReturns() ([]usualReturn, bool) {
	if p.unsettled(Identity) {
		return nil, false
	}
	var returns []usualReturn
	for i := range p.results {
		r := &p.results[i]
		q := usualReturn{maxImpl: math.MaxInt32, maxStorage: math.MaxInt32, self: noArgument, base: noArgument, list: r.List}
		if p.needs(r, usual.OneHolder) {
			q.maxImpl = 1
		}
		if p.needs(r, usual.OwnStorage) {
			q.maxStorage = 1
		}
		selves, bases := r.comparedWith(usual.IsArgument), r.comparedWith(usual.OnArgument)
		switch owners := slices.Concat(selves, bases); {
		case len(owners) > 0 && p.args[owners[0]].List:
			return nil, false
		case len(selves) == 1:
			q.self = owners[0]
		case len(bases) == 1:
			q.base = owners[0]
		}
		returns = append(returns, q)
	}
	return returns, true
}

// unsettled reports whether a check at or below a level needs more than usualFacts.
func (p *plan) unsettled(level Level) bool {
	for c := range AllCodes.All() {
		if row := checks[c]; p.lines[c] > 0 && row.level <= level && !row.settledBy(usualFacts) {
			return true
		}
	}
	return false
}

func (p *plan) needs(s *subjectPlan, fact usual.Facts) bool {
	for c := range (s.codes &^ p.waived).All() {
		if c.Usual().Has(fact) {
			return true
		}
	}
	return false
}

func (s *subjectPlan) comparedWith(fact usual.Facts) []int {
	var against []int
	for c := range s.codes.All() {
		if c.Usual().Has(fact) {
			against = append(against, s.against[c]...)
		}
	}
	return against
}
