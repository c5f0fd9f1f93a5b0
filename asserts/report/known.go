package report

import (
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/printable"
)

type baselineLine struct{ Code, Op, Subject string }

// newBaselineLine makes a line that remains equal after writing and reading.
func newBaselineLine(code, op, subject string) baselineLine {
	return baselineLine{code, printable.Line(op), printable.Line(subject)}
}

// lists reports whether the line is that of a finding or crash, or has its check without the symptom.
func (l baselineLine) lists(found baselineLine) bool {
	code, _, _ := strings.Cut(found.Code, "/")
	return l == found || l == baselineLine{code, found.Op, found.Subject}
}

func (l baselineLine) String() string { return l.Code + "  " + l.Op + "  " + l.Subject }

// baseline returns the finding's line, without the number of a list's element: that may differ from case to case.
func (f *Finding) baseline() baselineLine {
	on := f.Violation.Subject
	on.Element = asserts.NoElement
	return newBaselineLine(f.Violation.Symptom.Of(f.Violation.Code), f.Violation.Op, on.String())
}

// baseline returns the crash's line: of the causes that one fault can have, the first.
func (c *Crash) baseline(op string) baselineLine {
	return newBaselineLine("crash", op, SameCauses(c.Cause)[0])
}

// known returns the findings and crashes of an op that a baseline has, each once.
func (r *OpResult) known() []baselineLine {
	var lines []baselineLine
	add := func(known bool, l baselineLine) {
		if known && !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	for _, f := range r.Findings {
		add(f.Known, f.baseline())
	}
	for _, c := range r.Crashes {
		add(c.Known, c.baseline(r.Op))
	}
	return lines
}
