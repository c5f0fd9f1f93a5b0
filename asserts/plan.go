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
	op        *Op
	args      []subjectPlan
	results   []subjectPlan
	quick     []quickResult // the results once more, for Call.clean
	shortcuts bool          // Call.clean may judge a call at all
	asks      bool          // of calls with contents, whatever they are
	lists     bool          // some subject is a list
	shape     int64         // of the record of every call; varies where it depends on lists
	singles   int           // Observations that a call takes besides its lists
	lines     Counts        // of the op's plan, by code, without the waived ones
	waived    Codes         // judged like the others, and not reported
	bad       []string      // references that could not be resolved

	_          [64]byte      // what follows changes, and what precedes is read, at every call
	calls      atomic.Uint64 // judged below the content level
	contents   atomic.Uint64 // judged at the content level
	begun      atomic.Uint64 // while sampling
	sampledOut atomic.Uint64
	again      atomic.Int64         // of those, whose tensors are looked at again
	last       atomic.Pointer[past] // the last of them
	skipped    [len(usualSkips)]atomic.Uint64
	registered bool // under planned's lock
}

// A subjectPlan is a subject with its checks.
type subjectPlan struct {
	Subject
	codes    Codes
	against  map[Code][]int // the subjects that each check about a pair holds it against, in Op.Args or Op.Results
	declared []int          // of a return: arguments that it may share with
}

// made returns the op's plan, or nil if it is not made yet. A copy of an Op
// makes its own.
func (op *Op) made() *plan {
	return (*plan)(atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&op.plan))))
}

// resolve returns the op's plan.
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

// Validate returns the faults of the op's plan: a line about a subject that the op
// does not have, or that its check is not about. The judge
// leaves such lines out.
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
		// A preset may take another op for a view than the schema does.
		r := &p.results[i]
		r.declared = slices.Concat(r.declared, r.against[ViewStorage], r.against[ReturnedSelf])
	}
	p.quick, p.shortcuts = p.shortcut()
	p.asks = p.unknown(Content)
	p.shape = varies
	if p.shortcuts && !p.lists {
		p.shape = shape(len(p.args), p.singles)
	}
	return p
}

// count counts a subject that a call records so many times.
func (p *plan) count(s Subject, times int) {
	if s.List {
		p.lists = true
	} else {
		p.singles += times
	}
}

// add resolves one line; it returns its fault, or "".
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
			return fmt.Sprintf("%v on %q is not held against subject %d", c.Code, on.Name, c.Against)
		}
		if on.against == nil {
			on.against = make(map[Code][]int)
		}
		on.against[c.Code] = append(on.against[c.Code], i)
	}
	on.codes |= CodesOf(c.Code)
	return ""
}

// subject returns the subject that r refers to, or nil.
func (p *plan) subject(r Ref) *subjectPlan { return referred(r, p.args, p.results) }

// cleanFacts are those that Call.clean looks at.
const cleanFacts = usual.SameImpl | usual.SameStorage | usual.SameVersion | usual.SameContents | usual.SameMetadata | usual.Counted |
	usual.Filled | usual.NotKept | usual.Unshared | usual.Unreturned | usual.OneHolder | usual.OwnStorage | usual.IsArgument |
	usual.OnArgument | usual.OffArguments | usual.OffReturns | usual.WithinStorage

// shortcut returns the facts of the returns that Call.clean needs, or false where
// the judge has to look at every call.
func (p *plan) shortcut() ([]quickResult, bool) {
	if p.unknown(Identity) {
		return nil, false
	}
	var quick []quickResult
	for i := range p.results {
		r := &p.results[i]
		q := quickResult{maxImpl: math.MaxInt32, maxStorage: math.MaxInt32, self: noArgument, base: noArgument, list: r.List}
		if p.needs(r, usual.OneHolder) {
			q.maxImpl = 1
		}
		if p.needs(r, usual.OwnStorage) {
			q.maxStorage = 1
		}
		selves, bases := r.heldAgainst(usual.IsArgument), r.heldAgainst(usual.OnArgument)
		switch owners := slices.Concat(selves, bases); {
		case len(owners) > 0 && p.args[owners[0]].List:
			return nil, false
		case len(selves) == 1:
			q.self = owners[0]
		case len(bases) == 1:
			q.base = owners[0]
		}
		quick = append(quick, q)
	}
	return quick, true
}

// unknown reports whether a check at a level, or below it, needs more than Call.clean
// looks at.
func (p *plan) unknown(level Level) bool {
	for c := range AllCodes.All() {
		if row := checks[c]; p.lines[c] > 0 && row.level <= level && !row.shortens(cleanFacts) {
			return true
		}
	}
	return false
}

// needs reports whether a check of a subject that is not waived needs a fact.
func (p *plan) needs(s *subjectPlan, fact usual.Facts) bool {
	for c := range (s.codes &^ p.waived).All() {
		if c.Usual().Has(fact) {
			return true
		}
	}
	return false
}

// heldAgainst returns the subjects against which the checks that need a fact hold one.
func (s *subjectPlan) heldAgainst(fact usual.Facts) []int {
	var against []int
	for c := range s.codes.All() {
		if c.Usual().Has(fact) {
			against = append(against, s.against[c]...)
		}
	}
	return against
}
