package asserts

import "strings"

// A Fault is an error in an op that an engine itself finds, where no observation shows
// it.
type Fault struct {
	Code     Code
	Argument string // that it is about; "": the return, or the process where the check is about neither or about arguments
	Return   int    // that it is about, one more than its position; 0: the first, where the check is about returns
	Saw, Fix string
	Symptom  Symptom
	Breaks   string   // its effect, where more is known than the check says
	Note     string   // why it is debatable; "" where it is an error
	Site     Site     // of the fault, where that is not in the kernel
	Frames   []string // of the kernel, where it was stopped
}

// Framed returns the fault with the frames of another one of the same code and about the same,
// where it has none.
func (f Fault) Framed(others []Fault) Fault {
	for _, g := range others {
		if len(f.Frames) == 0 && len(g.Frames) > 0 && f.Code == g.Code && f.Argument == g.Argument && f.Return == g.Return {
			return g
		}
	}
	return f
}

// JudgeFaults makes violations of faults, where the op's checks are not waived.
func JudgeFaults(op *Op, seen *Seen, faults []Fault) Verdict {
	j := judge{op: op, seen: seen, plan: op.resolve()} // none is about a tensor that was observed
	for i := range faults {
		if f := &faults[i]; !j.plan.waived.Has(f.Code) {
			v := j.report(f.Code, j.at(f))
			v.Saw, v.Symptom, v.Fix, v.Breaks, v.Note, v.Site = f.Saw, f.Symptom, f.Fix, f.Breaks, f.Note, f.Site
			if len(f.Frames) > 0 {
				v.Saw += ", in " + strings.Join(f.Frames, " < ")
			}
		}
	}
	return j.verdict
}

func (j *judge) at(f *Fault) Place {
	for i := range j.plan.args {
		if s := &j.plan.args[i]; s.Name == f.Argument {
			return s.place(false, NoElement, "")
		}
	}
	if f.Return == 0 && f.Code.About()&Return == 0 {
		return Process
	}
	for i := range j.plan.results {
		if s := &j.plan.results[i]; f.Return == 0 || s.Index == f.Return-1 {
			return s.place(true, NoElement, "")
		}
	}
	return Process
}
