package asserts

import (
	"fmt"
	"sync"

	"github.com/opassert/opassert/internal/usual"
)

// A check is everything about one check. All lists of checks are made from these
// rows, so that a new one is one new file with a row in it.
type check struct {
	code    Code
	name    string
	promise Promise
	rule    string
	breaks  string
	plain   string // breaks in a library without autograd, functionalization and compilers; "" where it speaks of none
	level   Level
	about   About

	// plans reports whether the schema calls for the check on a subject, and
	// for a check about a pair against another. A check that no call shows has
	// none.
	plans func(op *Op, on, against *Subject) bool

	// judges finds violations of the rule in a call; compares does in a call and
	// the same call on meta.
	judges   func(*judge)
	compares func(real, meta *judge)

	// after holds the checks that are judged before, because this one has
	// nothing to add where one of them names the culprit.
	after Codes

	// fixes returns the change to make, in the schema or in the code.
	fixes func(op *Op, v *Violation) string

	// inPython is the fix for a class whose __torch_dispatch__ answers a call; "" where
	// fixes serves.
	inPython string

	// skips are the tensors for which the check can't be relied on; reliable if there
	// are none.
	skips []Row

	// usual are the facts that leave the check nothing to report, and nothing to skip
	// except for the tensors' traits. For a check without any each call goes through
	// the judge.
	usual usual.Facts

	// when reports whether the check is judged on a call, for one that is judged in
	// runs of many ops alone. A check without is judged on every call but those
	// through autograd.
	when func(*Seen) bool

	// parts reports that the check extends to the tensors inside sparse,
	// quantized, nested and wrapping ones: see [WithParts].
	parts bool
}

// reliable are the skips of a check that every tensor with an impl can be held
// against.
var reliable = []Row{}

// An About is the kinds of subject that a check is about: the subject, and for a check
// about a pair the one that it is compared with.
type About uint8

const (
	Argument        About = 1 << iota // an argument
	Return                            // a return
	AgainstArgument                   // held against an argument
	AgainstReturn                     // held against a return, or a list against itself
)

var checks [numCodes]*check

// add makes a check known. Each check's file calls it once, before anything
// ranges over the checks.
func add(c check) Code {
	if checks[c.code] != nil {
		panic(fmt.Sprintf("asserts: %v is the code of %s and of %s", c.code, checks[c.code].name, c.name))
	}
	checks[c.code] = &c
	return c.code
}

// shortens reports whether a call for which facts hold leaves the check nothing to
// report. A check of calls through autograd has none on others.
func (r *check) shortens(facts usual.Facts) bool {
	return r.usual != 0 && facts.Has(r.usual) || r.when != nil &&
		!r.when(&Seen{Alone: true}) //mutate:equivalent false: only saves time
}

// judgedOn reports whether the check is judged on a call.
func (r *check) judgedOn(seen *Seen) bool {
	when := !seen.Autograd
	if r.when != nil {
		when = r.when(seen)
	}
	return when && r.level <= seen.Level
}

// none is the row of a code that no check has.
var none check

func (c Code) check() *check {
	if c < numCodes && checks[c] != nil {
		return checks[c]
	}
	return &none
}

// judging is the checks that are judged on a call, in the order in which they
// are: each behind those that it comes after, else by code.
var judging = sync.OnceValue(func() []*check {
	var order []*check
	var done Codes
	for again := true; again; {
		again = false
		for c := range AllCodes.All() {
			if row := checks[c]; row.judges != nil && !done.Has(c) && row.after&^done == 0 {
				order, done, again = append(order, row), done|CodesOf(c), true
			}
		}
	}
	return order
})

// planning holds, by code, the checks that plan themselves on the kind of subject that about names.
func planning(about About) []*check {
	var rows []*check
	for c := range AllCodes.All() {
		if row := checks[c]; row.about&about != 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

var (
	onArguments = sync.OnceValue(func() []*check { return planning(Argument) })
	onReturns   = sync.OnceValue(func() []*check { return planning(Return) })
)
