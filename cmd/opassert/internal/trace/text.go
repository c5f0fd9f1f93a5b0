package trace

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/opassert/opassert/asserts/preserve"
)

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
	fmt.Fprintf(t.spool, "%s %s", l.Kind, l.Address)
	if l.Type != "" {
		fmt.Fprintf(t.spool, "  %s", l.Type)
	}
	if l.Kind == Object && l.Impl != 0 {
		fmt.Fprintf(t.spool, "  of impl %s", l.Impl)
	}
	if l.World != "" {
		fmt.Fprintf(t.spool, "  in %s", l.World)
	}
	fmt.Fprintln(t.spool)
	for i, e := range l.Events {
		if i == MaxEvents/2 && l.Dropped > 0 {
			fmt.Fprintf(t.spool, "%10s  %d more\n", "...", l.Dropped)
		}
		fmt.Fprintf(t.spool, "%10d  %s", e.Line, e)
		if e.Code != 0 {
			fmt.Fprintf(t.spool, "   <-- %s", e.Code)
		}
		fmt.Fprintln(t.spool)
	}
}

func (l *Life) has(w *What) bool {
	return slices.ContainsFunc(l.Events, func(e Event) bool { return e.What == w })
}

// End writes the violations, the summary of the log, and the lives.
func (t *Text) End(r LogReport) error {
	for _, v := range r.Violations {
		if v.Root == 0 {
			t.finding(&v, r.below(&v))
		}
	}
	for _, v := range r.Warnings {
		fmt.Fprintf(t.w, "warning: %s explains this as well as a fault does\n", v.Warning)
		t.finding(&v, nil)
	}
	for _, s := range r.Samples {
		fmt.Fprintf(t.w, "%10d  unknown: %s\n", s.Line, s.Text)
	}
	if n := r.Unknown - int64(len(r.Samples)); n > 0 {
		fmt.Fprintf(t.w, "%10s  %d more unknown\n", "...", n)
	}
	fmt.Fprintln(t.w, r.Summary())
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

// below returns the violations that follow from one, those with a later use first.
func (r *LogReport) below(root *InvariantViolation) []InvariantViolation {
	all := slices.DeleteFunc(slices.Clone(r.Violations), func(v InvariantViolation) bool {
		return v.Root != root.Line || v.World != root.World || v.root.Code != root.Code
	})
	slices.SortStableFunc(all, func(a, b InvariantViolation) int { return rank(a) - rank(b) })
	return all
}

// Summary returns the report's counts in one line.
func (r *LogReport) Summary() string {
	s := plural(int64(len(r.Violations)), "violation")
	if n := r.Findings(); n < len(r.Violations) {
		s += fmt.Sprintf(" (%s)", plural(int64(n), "finding"))
	}
	if n := len(r.Warnings); n > 0 {
		s += ", " + plural(int64(n), "warning")
	}
	s += fmt.Sprintf(" in %s of %s: %s, %s, %s", plural(r.Records, "record"), plural(r.Lines, "line"),
		plural(r.Lives[Object], "object"), plural(r.Lives[Impl], "impl"), plural(r.Lives[Tensor], "tensor"))
	if r.Replaced > 0 {
		s += fmt.Sprintf(", storage replaced %s", times(r.Replaced))
	}
	s += fmt.Sprintf(", %d unknown", r.Unknown)
	if r.Cut {
		s += "; the compressed file is cut off"
	}
	return s
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// finding writes a violation and those that follow from it.
func (t *Text) finding(v *InvariantViolation, below []InvariantViolation) {
	t.headline(v)
	fmt.Fprintf(t.w, "  rule    %s\n", v.Code.Rule())
	fmt.Fprintf(t.w, "  saw     %s", v.Saw())
	if len(below) > 0 {
		fmt.Fprintf(t.w, "; it costs %s", plural(int64(len(below)), "object"))
	}
	fmt.Fprintf(t.w, "\n  cause   %s", v.Cause)
	if v.Inferred != "" {
		fmt.Fprintf(t.w, ", inferred: %s", v.Inferred)
	}
	fmt.Fprintln(t.w)
	for _, e := range v.Evidence {
		fmt.Fprintf(t.w, "%10d  %s\n", e.Line, e.Says)
	}
	for _, e := range v.Against {
		fmt.Fprintf(t.w, "%10d  %s\n", e.Line, e.Says)
	}
	if v.Proof != "" {
		fmt.Fprintf(t.w, "  proof   a line that says %s\n", v.Proof)
	}
	if len(below) == 0 {
		t.later(v)
	}
	fmt.Fprintf(t.w, "  breaks  %s\n  fix     %s\n", v.Code.Breaks(), v.Code.Fix())
	for _, b := range below {
		t.headline(&b)
		if len(below) == 1 {
			fmt.Fprintf(t.w, "  saw     %s\n", b.Saw())
			for _, e := range b.Evidence {
				if !slices.Contains(v.Evidence, e) {
					fmt.Fprintf(t.w, "%10d  %s\n", e.Line, e.Says)
				}
			}
		}
		t.later(&b)
	}
	fmt.Fprintln(t.w)
}

func (t *Text) headline(v *InvariantViolation) {
	fmt.Fprintf(t.w, "%s %s  object %s, impl %s: line %d", v.Code, v.Code.Name(), v.Object, v.Impl, v.Line)
	if v.World != "" {
		fmt.Fprintf(t.w, " in %s", v.World)
	}
	fmt.Fprintln(t.w)
}

func (t *Text) later(v *InvariantViolation) {
	if later := v.Later(); later != "" {
		fmt.Fprintf(t.w, "  later   %s\n", later)
	}
}

// Later returns the consequence of a deallocation, in one line; "" if the object is
// not deallocated.
func (v *InvariantViolation) Later() string {
	if v.Code != preserve.SharedDealloc && v.Code != preserve.UseAfter {
		return ""
	}
	if v.Consequence == 0 {
		return "the log does not show a use of it"
	}
	s := fmt.Sprintf("line %d uses the deallocated object", v.Consequence)
	if v.Consequence == v.Line {
		s = "this line is the use"
	}
	if v.Tensor != 0 {
		s += fmt.Sprintf(", for tensor %s", v.Tensor)
	}
	switch v.Found {
	case "":
	case v.Type:
		s += fmt.Sprintf("; another %s is found there", v.Found)
	default:
		s += fmt.Sprintf("; a %s is found there", v.Found)
	}
	return s
}
