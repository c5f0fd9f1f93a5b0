package report

import "slices"

// An Excuse is an entry of an allowlist in a run.
type Excuse struct {
	Entry  string `json:"entry"` // its place
	Op     string `json:"op"`
	Checks string `json:"checks"`
	Reason string `json:"reason"`
	Ran    bool   `json:"ran,omitempty"`   // an op that it names ran
	Cases  int    `json:"cases,omitempty"` // that it excused
}

func (r *Report) addExcuses(more []Excuse) {
	for _, e := range more {
		i := slices.IndexFunc(r.Excuses, func(own Excuse) bool { return own.Entry == e.Entry && own.Op == e.Op })
		if i < 0 {
			r.Excuses = append(r.Excuses, e)
			continue
		}
		r.Excuses[i].Ran = r.Excuses[i].Ran || e.Ran
		r.Excuses[i].Cases += e.Cases
	}
}
