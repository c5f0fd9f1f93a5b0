package asserts

import (
	"cmp"
	"slices"
	"strings"
)

// A Fault is an error in an op that the engine itself finds, without an observation that shows it.
type Fault struct {
	Code     Code
	Argument string // the argument at fault; "": the return, or the process
	Return   int    // the return at fault, one more than its position; 0: the first, or the process
	Saw      string // in it {} is the argument or the return at fault
	Fix      string // "": that of the symptom
	Symptom  Symptom
	Note     string   // why it is debatable, if its symptom is not
	Site     Site     // of the fault, if not in the kernel
	Frames   []string // of the kernel, where it was stopped
}

// Framed returns f, or if it has no frames one of the others with frames, of the same code and about the same place.
func (f Fault) Framed(others []Fault) Fault {
	for _, g := range others {
		if len(f.Frames) == 0 && len(g.Frames) > 0 && f.Code == g.Code && f.Argument == g.Argument && f.Return == g.Return {
			return g
		}
	}
	return f
}

// JudgeFaults turns faults into violations, except those of waived checks.
func JudgeFaults(op *Op, seen *Seen, faults []Fault) Verdict {
	j := judge{op: op, seen: seen, plan: op.resolve()} // without observed tensors
	for i := range faults {
		if f := &faults[i]; !j.plan.waived.Has(f.Code) {
			v := j.report(f.Code, j.at(f))
			v.Saw = strings.ReplaceAll(f.Saw, "{}", v.Subject.String())
			row := f.Symptom.In(f.Code)
			v.Symptom, v.Fix, v.Site = f.Symptom, cmp.Or(f.Fix, row.Fix), f.Site
			v.Note = cmp.Or(f.Note, row.Note, reasonFor(v, op.Notes))
			if len(f.Frames) > 0 {
				v.Saw += ", in " + strings.Join(f.Frames, " < ")
			}
			v.inGo()
		}
	}
	return j.verdict
}

func (j *judge) at(f *Fault) Place {
	if i := slices.IndexFunc(j.plan.args, func(s subjectPlan) bool { return s.Name == f.Argument }); i >= 0 {
		return j.plan.args[i].Place(false, NoElement, "")
	}
	if f.Return == 0 && f.Code.About()&Return == 0 {
		return Process
	}
	for i := range j.plan.results {
		if s := &j.plan.results[i]; f.Return == 0 || s.Index == f.Return-1 {
			return s.Place(true, NoElement, "")
		}
	}
	return Process
}
