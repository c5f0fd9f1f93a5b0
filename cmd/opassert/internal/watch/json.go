package watch

import (
	"io"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/printable"
)

// A shown finding is a finding in the form of -json.
type shown struct {
	Code    string         `json:"code"`
	Op      string         `json:"op"`
	Subject string         `json:"subject"`
	Saw     string         `json:"saw"`
	Fix     string         `json:"fix"`
	Status  asserts.Status `json:"status"`
	Symptom string         `json:"symptom"`
	Call    string         `json:"call,omitempty"`
	Device  string         `json:"device,omitempty"`
	DType   string         `json:"dtype,omitempty"`
	Report  string         `json:"report"`
	Count   int            `json:"count"`
	Pids    []int          `json:"pids"`
	Rank    string         `json:"rank,omitempty"`
	Known   bool           `json:"known,omitempty"`      // a baseline has it
	Note    string         `json:"note,omitempty"`       // why it is debatable, and not an error
	Answer  *Frame         `json:"answeredBy,omitempty"` // the Python method that answered instead of a kernel
	Class   string         `json:"class,omitempty"`      // that class, which may have the method from another
	Site    []Frame        `json:"site"`                 // the user's frames, outermost first

	Program *report.ReproProgram `json:"program,omitempty"`
}

// WriteJSON writes the findings as an array, followed by more.
func (r *OpReport) WriteJSON(w io.Writer, more ...any) error {
	all := []any{}
	for _, f := range r.Findings {
		site := f.Site
		if site == nil {
			site = []Frame{}
		}
		s := shown{Code: f.Code.String(), Op: f.Op, Subject: f.Subject.String(), Saw: f.Saw, Fix: f.Fix, Count: f.Count,
			Pids: f.Pids, Rank: f.Rank, Known: f.Known, Note: f.Note, Site: site, Program: f.Program}
		result := f.Violation.Result()
		s.Status, s.Symptom, s.Call = result.Status, result.Symptom, f.Call
		s.Device, s.DType, s.Report = f.Device, f.DType, f.Report()
		if f.Known {
			s.Status = asserts.Known
		}
		if a := f.Answer; a != nil {
			s.Class, s.Answer = a.Class, &Frame{File: a.Site.File, Line: a.Site.Line, Function: a.Site.Func}
		}
		all = append(all, s)
	}
	all = append(all, more...)
	return printable.JSON(w, all, " ")
}
