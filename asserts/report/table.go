package report

import (
	"io"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/printable"
)

// WriteTable writes the findings as a table in Markdown, by check and op; if programs were written,
// with the outcome of each.
func (r *Report) WriteTable(w io.Writer) error {
	t := textWriter{w: w}
	head, rule := "| check | op | about | trigger | what was seen |", "|---|---|---|---|---|"
	reproduced, others := r.Programs()
	if reproduced+others > 0 {
		head, rule = head+" without opassert |", rule+"---|"
	}
	t.line("%s\n%s", head, rule)
	for c := range asserts.AllCodes.All() {
		for _, op := range r.Ops {
			for _, f := range op.Findings {
				if f.Violation.Code != c {
					continue
				}
				outcome := ""
				if reproduced+others > 0 {
					outcome = " " + printable.Cell(f.Program.outcome()) + " |"
				}
				t.line("| %v | %s | %s | %s | %s |%s", c, printable.Code(op.Op), printable.Cell(f.Violation.Subject.String()), printable.Code(f.trigger()), printable.Cell(f.Violation.Saw), outcome)
			}
		}
	}
	return t.err
}

// longestTrigger is the length of a call that fits into a table.
const longestTrigger = 160

// trigger returns the call without the op's name.
func (f *Finding) trigger() string {
	_, args, ok := strings.Cut(f.Call, "(")
	if !ok {
		return f.Call
	}
	args = strings.TrimSuffix(args, ")")
	if len(args) > longestTrigger {
		args = strings.ToValidUTF8(args[:longestTrigger], "") + "..."
	}
	return args
}
