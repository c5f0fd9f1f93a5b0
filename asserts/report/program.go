package report

import "github.com/opassert/opassert/internal/printable"

// A ReproProgram reproduces a finding or a crash without opassert.
type ReproProgram struct {
	File       string `json:"file,omitempty"` // "" if no program was written
	Text       string `json:"text,omitempty"` // of the file
	Reproduced bool   `json:"reproduced"`     // it was run, and showed the fault
	Why        string `json:"why,omitempty"`  // why it does not show the fault
}

func (p *ReproProgram) path() string {
	if p == nil {
		return ""
	}
	return p.File
}

// Outcome describes the outcome of a program, or returns "" for nil.
func (p *ReproProgram) Outcome() string {
	if p == nil {
		return ""
	}
	return p.String()
}

// String describes the outcome of the program.
func (p *ReproProgram) String() string {
	switch {
	case p.File == "":
		return printable.Sprintf("none: %s", p.Why)
	case p.Reproduced:
		return printable.Sprintf("%s: reproduced without opassert", p.File)
	}
	return printable.Sprintf("%s: not reproduced: %s", p.File, p.Why)
}
