package probe

import (
	"slices"
	"strings"
	"sync"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// A Row is one probe.
type Row struct {
	Name   string // of its file
	How    string // how the call is made again, after "not repeated"
	At     Moment
	Fault  asserts.Fault // code, symptom and sentences of what it finds
	Budget int           // the number of keys that an op is asked with; 0: each call asks
	InGo   bool          // asked of kernels in Go, too, which no other row is
	Key    func(*Call) string
	When   func(*Call) bool // whether the call can show the fault; nil: always

	// One of these: the next call of the case, how the same call is made again and compared, or how the fault is found.
	Change []Change
	Fast   []Change // where set, the call with one of these must be fast
	Setup  Setup
	Find   func(*Row, *Call) []asserts.Fault

	Program   *Program // that shows the fault; nil: that of another probe of the code without a symptom
	NoProgram string   // why no program shows it
}

// A Moment is when a probe is asked.
type Moment int

const (
	Returned  Moment = iota + 1 // a call returned
	Repeated                    // it also returned the same when it was repeated
	Judged                      // it was judged, and so is a changed one
	Thrown                      // the call after one that returned threw
	InMemory                    // by the repetition of a call in other memory
	Elsewhere                   // by another process
	Refused                     // a call threw
)

// Budgets of probes, in calls of an op with different keys: one for threads, which have found nothing in libraries.
const (
	many = 200
	some = 8
	one  = 1
)

var rows []*Row

func add(r Row) *Row {
	if r.Key == nil {
		r.Key = setting
	}
	rows = append(rows, &r)
	return &r
}

// Rows returns all probes, by name.
func Rows() []*Row {
	return slices.SortedFunc(slices.Values(rows), func(a, b *Row) int { return strings.Compare(a.Name, b.Name) })
}

// nondeterminism returns the fault of a result; its other sentences are those of the symptom.
func nondeterminism(symptom asserts.Symptom, saw string) asserts.Fault {
	return asserts.Fault{Code: asserts.NondeterministicResult, Symptom: symptom, Saw: saw}
}

var byMoment = sync.OnceValue(func() map[Moment][]*Row {
	all := make(map[Moment][]*Row)
	for _, r := range Rows() {
		all[r.At] = append(all[r.At], r)
	}
	return all
})

// Of returns the probes of a moment.
func Of(at Moment) []*Row { return byMoment()[at] }

// Faults makes the call again, and returns the faults of results that differ.
func (r *Row) Faults(c *Call) []asserts.Fault {
	if r.Find != nil {
		return r.Find(r, c)
	}
	then := c.Again(r.Setup)
	if then == nil || c.Same(c.Seen, then) || !c.Repeats(r.Setup, then) || !c.Repeats(First, c.Seen) {
		return nil
	}
	return c.Differing(c.Seen, then, r.Fault)
}

// setting is the part that is equal for cases which differ only in their tensors, with elements or without.
func setting(c *Call) string {
	like := c.Case.Clone()
	for _, spec := range like.Tensors() {
		*spec = sample.TensorSpec{Sizes: []int64{min(tensor.Numel(spec.Sizes), 1)}}
	}
	return like.String()
}
