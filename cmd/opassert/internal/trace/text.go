package trace

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/internal/slicesx"
)

//go:embed report.tmpl
var reportText string

var reportTemplate = sync.OnceValue(func() *template.Template {
	functions := template.FuncMap{
		"plural": func(n any, what string) string {
			if count := fmt.Sprint(n); count != "1" {
				return count + " " + what + "s"
			}
			return "1 " + what
		},
	}
	return template.Must(template.New("").Funcs(functions).Parse(reportText))
})

// WriteText writes the violations as text, and the summary of the log.
func (r *LogReport) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	return cmp.Or(reportTemplate().ExecuteTemplate(b, "report", r), b.Flush())
}

// A finding is a violation that follows from no other.
type finding struct {
	InvariantViolation
	Below []InvariantViolation // those that follow from it
}

// Beside returns the evidence of another violation that is not this one's.
func (f finding) Beside(v InvariantViolation) []Reason {
	return slices.DeleteFunc(slices.Clone(v.Evidence), func(e Reason) bool { return slices.Contains(f.Evidence, e) })
}

// Breaks returns the findings.
func (r *LogReport) Breaks() []finding {
	return slicesx.Map(r.roots(), func(v InvariantViolation) finding { return finding{v, r.below(&v)} })
}

// Warned returns the warnings.
func (r *LogReport) Warned() []finding {
	return slicesx.Map(r.Warnings, func(v InvariantViolation) finding { return finding{InvariantViolation: v} })
}

// MoreUnknown returns the number of unknown lines besides the samples.
func (r *LogReport) MoreUnknown() int64 { return r.Unknown - int64(len(r.Samples)) }

// below returns the violations that follow from one, those with a later use first.
func (r *LogReport) below(root *InvariantViolation) []InvariantViolation {
	all := slices.DeleteFunc(slices.Clone(r.Violations), func(v InvariantViolation) bool {
		return v.Root != root.Line || v.World != root.World || v.root.Code != root.Code
	})
	slices.SortStableFunc(all, func(a, b InvariantViolation) int { return a.rank() - b.rank() })
	return all
}

func (v *InvariantViolation) rank() int {
	if v.Consequence != 0 {
		return 0
	}
	return 1
}

// Summary returns the report's counts in one line.
func (r *LogReport) Summary() string { return line("summary", r) }

// Later returns the consequence of a deallocation, in one line; "" if the object is not deallocated.
func (v *InvariantViolation) Later() string {
	if v.Code != preserve.SharedDealloc && v.Code != preserve.UseAfter {
		return ""
	}
	return line("later", v)
}

// line returns the text of a template of one line.
func line(name string, of any) string {
	var b strings.Builder
	if err := reportTemplate().ExecuteTemplate(&b, name, of); err != nil {
		panic(err) // the template is embedded
	}
	return b.String()
}
