package watch

import (
	"fmt"
	"strings"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/printable"
)

// Suite returns the report in the form of a suite's, for its writers and for baselines. A
// call of the program is a case of the op.
func (r *OpReport) Suite() *report.Report {
	s := &report.Report{Engine: printable.Line(r.Program), Level: r.Level, Command: "opassert run"}
	s.Watched = fmt.Sprintf("PyTorch's own ops at the level %v, others at %v", r.Level, r.Custom)
	byName := make(map[string]*report.OpResult)
	for _, op := range r.Called {
		byName[op.Op] = op
		s.Ops = append(s.Ops, op)
	}
	for _, f := range r.Findings {
		if op := byName[f.Op]; op != nil {
			op.Findings = append(op.Findings, f.suite())
		}
	}
	s.All = len(s.Ops)
	return s
}

// suite returns the finding as a suite's.
func (f *OpFinding) suite() *report.Finding {
	v := *f.Violation
	v.Repro = strings.TrimPrefix(v.Repro, "opassert run ")
	v.Site = f.site()
	on := []engine.Device{engine.CPU}
	return &report.Finding{Violation: &v, Call: f.Call, Devices: on, Times: f.Count, Known: f.Known}
}

// AdoptPrograms takes over the programs of the findings of a report that [Report.Suite] made.
func (r *OpReport) AdoptPrograms(s *report.Report) {
	programs := make(map[string][]*report.ReproProgram)
	for _, op := range s.Ops {
		for _, f := range op.Findings {
			programs[op.Op] = append(programs[op.Op], f.Program)
		}
	}
	for _, f := range r.Findings {
		if of := programs[f.Op]; len(of) > 0 {
			f.Program, programs[f.Op] = of[0], of[1:]
		}
	}
}

// KnownTo reports whether a baseline has the finding.
func (f *OpFinding) KnownTo(b *report.Baseline) bool {
	found := f.suite()
	b.Mark(&report.Report{Ops: []*report.OpResult{{Op: f.Op, Ran: 1, Findings: []*report.Finding{found}}}})
	return found.Known
}
