package asserts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"
)

// A plan is an Op with its names resolved, made at the first call.
type plan struct {
	op        *Op
	args      []argPlan
	results   []resultPlan
	quick     []quickResult    // the results once more, for Call.clean
	shortcuts bool             // Call.clean may judge a call at all
	lists     bool             // some subject is a list
	shape     int64            // of the record of every call; -1: it depends on lists
	singles   int              // Observations that a call takes besides its lists
	lines     [NumCodes]uint64 // lines by code
	bad       []string         // what could not be resolved

	_          [64]byte      // what follows changes, and what precedes is read, at every call
	calls      atomic.Uint64 // judged
	contents   atomic.Uint64 // of those, at the content level
	begun      atomic.Uint64 // while sampling
	sampledOut atomic.Uint64
	registered bool // under planned's lock
}

type argPlan struct {
	Subject
	codes Codes // the checks about it
}

type resultPlan struct {
	Subject
	codes     Codes
	bases     []int // arguments that OA004 is held against
	selves    []int // arguments that OA006 is held against
	strangers []int // arguments that OA007 is held against
	peers     []int // returns that OA008 is held against
	declared  []int // arguments with a common alias set
}

// made gives the op's plan, or nil where there is none yet. A copy of an Op
// makes its own.
func (op *Op) made() *plan {
	return (*plan)(atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&op.plan))))
}

// resolve gives the op's plan.
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

// Validate tells what is wrong with the op's plan: a check that names no
// subject, or is about a pair and names one. The judge leaves such lines out.
func (op *Op) Validate() error {
	if bad := newPlan(op).bad; len(bad) > 0 {
		return fmt.Errorf("%s: %s", op.Name, strings.Join(bad, "; "))
	}
	return nil
}

func newPlan(op *Op) *plan {
	p := &plan{
		op:      op,
		args:    make([]argPlan, len(op.Args)),
		results: make([]resultPlan, len(op.Results)),
	}
	for i, s := range op.Args {
		p.args[i].Subject = s
		p.count(s, 2)
	}
	for i, s := range op.Results {
		p.results[i].Subject = s
		p.count(s, 1)
		for j, a := range op.Args {
			if shareSet(aliasSets(s.Type), aliasSets(a.Type)) {
				p.results[i].declared = append(p.results[i].declared, j)
			}
		}
	}
	for _, c := range op.Checks {
		if err := p.add(op, c); err != "" {
			p.bad = append(p.bad, err)
			continue
		}
		p.lines[c.Code]++
	}
	for i := range p.results {
		r := &p.results[i]
		r.declared = slices.Concat(r.declared, r.bases, r.selves)
	}
	p.quick, p.shortcuts = p.shortcut()
	p.shape = -1
	if !p.lists { //mutate:equivalent true: only saves time
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

// add resolves one line; it gives what is wrong with it.
func (p *plan) add(op *Op, c Check) string {
	arg, result := find(op.Args, c.On), find(op.Results, c.On)
	switch c.Code {
	case InputImpl, InputStorage, UndeclaredWrite, VersionBump:
		if arg < 0 {
			return fmt.Sprintf("%v names argument %q, which there is not", c.Code, c.On)
		}
		p.args[arg].codes |= CodesOf(c.Code)
		return ""
	case MetaAlias:
		switch {
		case result >= 0:
			p.results[result].codes |= CodesOf(c.Code)
		case arg >= 0:
			p.args[arg].codes |= CodesOf(c.Code)
		default:
			return fmt.Sprintf("%v names %q, which there is not", c.Code, c.On)
		}
		return ""
	case FreshImpl, FreshStorage, ViewStorage, ReturnedSelf, UndeclaredAlias, OutputAlias:
	default:
		return fmt.Sprintf("%v is not judged on a call", c.Code)
	}
	if result < 0 {
		return fmt.Sprintf("%v names return %q, which there is not", c.Code, c.On)
	}
	r := &p.results[result]
	against := find(op.Args, c.Against)
	var to *[]int
	switch c.Code {
	case ViewStorage:
		to = &r.bases
	case ReturnedSelf:
		to = &r.selves
	case UndeclaredAlias:
		to = &r.strangers
	case OutputAlias:
		to = &r.peers
		against = find(op.Results, c.Against)
		if c.Against == "" {
			against = result
		}
	}
	if to != nil {
		if against < 0 {
			return fmt.Sprintf("%v on %q is held against %q, which there is not", c.Code, c.On, c.Against)
		}
		*to = append(*to, against)
	}
	r.codes |= CodesOf(c.Code)
	return ""
}

// shortcut gives what Call.clean needs to know of the returns, or false where
// one has to be looked at by the judge every time.
func (p *plan) shortcut() ([]quickResult, bool) {
	var quick []quickResult
	for i := range p.results {
		r := &p.results[i]
		q := quickResult{maxImpl: math.MaxInt32, maxStorage: math.MaxInt32, self: -1, base: -1, list: r.List}
		if r.codes.Has(FreshImpl) {
			q.maxImpl = 1
		}
		if r.codes.Has(FreshStorage) {
			q.maxStorage = 1
		}
		switch owners := slices.Concat(r.selves, r.bases); {
		case len(owners) > 0 && p.args[owners[0]].List:
			return nil, false
		case len(r.selves) == 1:
			q.self = owners[0]
		case len(r.bases) == 1:
			q.base = owners[0]
		}
		quick = append(quick, q)
	}
	return quick, true
}

func find(subjects []Subject, name string) int {
	return slices.IndexFunc(subjects, func(s Subject) bool { return s.Name == name })
}

// aliasSets gives the alias sets in a type as the schema writes it: "a" and
// "*" in "Tensor(a! -> *)".
func aliasSets(typ string) []string {
	_, rest, _ := strings.Cut(typ, "(")
	sets, _, _ := strings.Cut(rest, ")")
	return strings.FieldsFunc(sets, func(r rune) bool { return strings.ContainsRune("|!-> ", r) })
}

func shareSet(a, b []string) bool {
	return slices.ContainsFunc(a, func(set string) bool { return slices.Contains(b, set) })
}
