package trace

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"math"
	"os"
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
		"middle": func() int { return MaxEvents / 2 },
	}
	return template.Must(template.New("").Funcs(functions).Parse(reportText))
})

// Text writes the violations as text, and then the lives, if asked for.
type Text struct {
	w     *bufio.Writer
	lives *os.File // the lives, written as they end, to follow the violations
	spool *bufio.Writer
	err   error
}

// NewText returns a Text that writes to w, with the lives if lives is true.
func NewText(w io.Writer, lives bool) *Text {
	t := &Text{w: bufio.NewWriter(w)}
	if !lives {
		return t
	}
	if t.lives, t.err = os.CreateTemp("", "opassert-lives-"); t.err == nil {
		os.Remove(t.lives.Name()) // unlinked at once where the system lets it: this process may be killed
		t.spool = bufio.NewWriter(t.lives)
	}
	return t
}

// Life writes one life. Tensors are only shown if their storage was replaced.
func (t *Text) Life(l Life) {
	if t.spool == nil || l.Kind == Tensor && !l.has(Replaced) {
		return
	}
	t.err = cmp.Or(t.err, reportTemplate().ExecuteTemplate(t.spool, "life", l))
}

func (l *Life) has(w *What) bool {
	return slices.ContainsFunc(l.Events, func(e Event) bool { return e.What == w })
}

// End writes the violations, the summary of the log, and the lives.
func (t *Text) End(r LogReport) error {
	t.err = cmp.Or(t.err, reportTemplate().ExecuteTemplate(t.w, "report", &r))
	if t.spool != nil {
		fmt.Fprintln(t.w)
		t.err = cmp.Or(t.err, t.spool.Flush())
		_, err := io.Copy(t.w, io.NewSectionReader(t.lives, 0, math.MaxInt64))
		t.err = cmp.Or(t.err, err)
		t.lives.Close()
		os.Remove(t.lives.Name())
	}
	return cmp.Or(t.err, t.w.Flush())
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
	slices.SortStableFunc(all, func(a, b InvariantViolation) int { return rank(a) - rank(b) })
	return all
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
