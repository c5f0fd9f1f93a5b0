package watch

import (
	"io"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/printable"
)

// A shown finding is a finding in the form of -json: a row of check's, and what a program adds.
type shown struct {
	asserts.Result
	Pids    []int                `json:"pids"`
	Rank    string               `json:"rank,omitempty"`
	Frames  []Frame              `json:"frames,omitempty"`     // the user's, outermost first; site is the last
	Answer  *Frame               `json:"answeredBy,omitempty"` // the Python method that answered instead of a kernel
	Class   string               `json:"class,omitempty"`      // that class, which may have the method from another
	Program *report.ReproProgram `json:"program,omitempty"`
}

// WriteJSON writes the findings as an array, followed by more.
func (r *OpReport) WriteJSON(w io.Writer, more ...any) error {
	all := []any{}
	for _, f := range r.Findings {
		s := shown{Result: f.result(), Pids: f.Pids, Rank: f.Rank, Frames: f.Site, Program: f.Program}
		if f.Answer != nil {
			s.Class, s.Answer = f.Answer.Class, (*Frame)(&f.Answer.Site)
		}
		all = append(all, s)
	}
	all = append(all, more...)
	return printable.JSON(w, all, " ")
}
