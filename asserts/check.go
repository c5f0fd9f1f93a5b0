package asserts

import (
	"fmt"
	"sync"

	"github.com/opassert/opassert/internal/usual"
)

// A checkRow is everything about one check. All lists of checks derive from the rows: a new check is a file with one.
type checkRow struct {
	code         Code
	name         string
	rule, breaks string
	level        Level
	about        About

	// plans reports whether the schema calls for the check on a subject, and for a check about a
	// pair against another subject. It is nil for a check that is not judged on single calls.
	plans func(op *Op, on, against *Subject) bool

	// judges finds violations of the rule in a call.
	judges func(*judge)

	// after holds the checks judged before this one, which leaves out tensors that they named:
	// wrong and aliased of an output, newImpl and newStorage of an input.
	after Codes

	// fixes returns the change to make, in the schema or in the code.
	fixes func(op *Op, v *Violation) string

	// inPython is the fix for a class whose __torch_dispatch__ answers a call; "": the result of fixes.
	inPython string

	// skips lists the tensors for which the check is unreliable; reliable for none.
	skips []Row

	// usual lists the facts under which the check reports nothing, and skips only by the tensors'
	// traits. If empty, the judge sees every call.
	usual usual.Facts

	// when reports whether the check is judged on a call. It is for checks that are judged only in
	// runs of many ops; nil: on every call except those through autograd.
	when func(*Seen) bool

	// parts extends the check to the tensors inside sparse, quantized, nested and wrapping ones: see [WithParts].
	parts bool
}

// reliable are the skips of a check that can be relied on for every tensor with an impl.
var reliable = []Row{}

// An About is a set of the kinds of subject that a check is about, for one about a pair also of those compared with it.
type About uint8

const (
	Argument        About = 1 << iota // an argument
	Return                            // a return
	AgainstArgument                   // compared with an argument
	AgainstReturn                     // compared with a return, or a list with itself
)

var checks [numCodes]*checkRow

// add registers a check. Each check's file calls it once, during initialization.
func add(c checkRow) Code {
	if checks[c.code] != nil {
		panic(fmt.Sprintf("asserts: %v is the code of %s and of %s", c.code, checks[c.code].name, c.name))
	}
	checks[c.code] = &c
	return c.code
}

// settledBy reports whether the check has nothing to report on a call with these facts. A check of
// calls through autograd has nothing to report on others.
func (r *checkRow) settledBy(facts usual.Facts) bool {
	return r.usual != 0 && facts.Has(r.usual) || r.when != nil &&
		!r.when(&Seen{Alone: true}) //mutate:equivalent false: only saves time
}

func (r *checkRow) judgedOn(seen *Seen) bool {
	when := !seen.Autograd
	if r.when != nil {
		when = r.when(seen)
	}
	return when && r.level <= seen.Level
}

var none checkRow

func (c Code) check() *checkRow {
	if c < numCodes && checks[c] != nil {
		return checks[c]
	}
	return &none
}

// judging lists the checks judged on a call, in order: each after those in its after set, else by code.
var judging = sync.OnceValue(func() []*checkRow {
	var order []*checkRow
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

// planning lists, by code, the checks that plan themselves on a kind of subject.
func planning(about About) []*checkRow {
	var rows []*checkRow
	for c := range AllCodes.All() {
		if row := checks[c]; row.about&about != 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

var (
	onArguments = sync.OnceValue(func() []*checkRow { return planning(Argument) })
	onReturns   = sync.OnceValue(func() []*checkRow { return planning(Return) })
)
