package trace

import (
	"bufio"
	"fmt"
	"io"

	"github.com/opassert/opassert/asserts/preserve"
)

// Text writes lives as they end and then what broke, for people.
type Text struct {
	w       *bufio.Writer
	printed bool
}

// NewText gives a Text that writes to w.
func NewText(w io.Writer) *Text { return &Text{w: bufio.NewWriter(w)} }

// Life writes one life. Tensors are only shown when their storage was replaced.
func (t *Text) Life(l Life) {
	if l.Kind == Tensor && !l.has(Replaced) {
		return
	}
	t.printed = true
	fmt.Fprintf(t.w, "%s %s", l.Kind, l.Address)
	if l.Type != "" {
		fmt.Fprintf(t.w, "  %s", l.Type)
	}
	if l.Kind == Object && l.Impl != 0 {
		fmt.Fprintf(t.w, "  of impl %s", l.Impl)
	}
	fmt.Fprintln(t.w)
	for i, e := range l.Events {
		if i == MaxEvents/2 && l.Dropped > 0 {
			fmt.Fprintf(t.w, "%10s  %d more\n", "...", l.Dropped)
		}
		fmt.Fprintf(t.w, "%10d  %s", e.Line, e)
		if e.Code != 0 {
			fmt.Fprintf(t.w, "   <-- %s", e.Code)
		}
		fmt.Fprintln(t.w)
	}
}

func (l *Life) has(w What) bool {
	for _, e := range l.Events {
		if e.What == w {
			return true
		}
	}
	return false
}

// End writes what broke, and what the log came to.
func (t *Text) End(r Report) error {
	for _, v := range r.Violations {
		t.gap()
		t.violation(&v)
	}
	t.gap()
	for _, s := range r.Samples {
		fmt.Fprintf(t.w, "%10d  unknown: %s\n", s.Line, s.Text)
	}
	if n := r.Unknown - int64(len(r.Samples)); n > 0 {
		fmt.Fprintf(t.w, "%10s  %d more unknown\n", "...", n)
	}
	fmt.Fprintln(t.w, r.Summary())
	return t.w.Flush()
}

// gap separates what follows from what was printed.
func (t *Text) gap() {
	if t.printed {
		fmt.Fprintln(t.w)
	}
	t.printed = true
}

// Summary gives the report's numbers in one line.
func (r *Report) Summary() string {
	s := fmt.Sprintf("%s in %s of %s: %s, %s, %s", plural(int64(len(r.Violations)), "violation"),
		plural(r.Records, "record"), plural(r.Lines, "line"),
		plural(r.Lives[Object], "object"), plural(r.Lives[Impl], "impl"), plural(r.Lives[Tensor], "tensor"))
	if r.Replaced > 0 {
		s += fmt.Sprintf(", storage replaced %s", times(r.Replaced))
	}
	return s + fmt.Sprintf(", %d unknown", r.Unknown)
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

func (t *Text) violation(v *Violation) {
	fmt.Fprintf(t.w, "%s %s  object %s, impl %s: line %d\n", v.Code, v.Code.Name(), v.Object, v.Impl, v.Line)
	fmt.Fprintf(t.w, "  rule    %s\n", v.Code.Rule())
	fmt.Fprintf(t.w, "  saw     %s\n", v.Saw())
	fmt.Fprintf(t.w, "  cause   %s\n", v.Cause)
	for _, e := range v.Evidence {
		fmt.Fprintf(t.w, "%10d  %s\n", e.Line, e.Says)
	}
	for _, e := range v.Against {
		fmt.Fprintf(t.w, "%10d  %s\n", e.Line, e.Says)
	}
	if later := v.Later(); later != "" {
		fmt.Fprintf(t.w, "  later   %s\n", later)
	}
}

// Later tells what came of a deallocation, in one line; "" if the object is not
// deallocated.
func (v *Violation) Later() string {
	switch {
	case v.Code != preserve.SharedDealloc && v.Code != preserve.UseAfter:
		return ""
	case v.Consequence == 0:
		return "the log does not show a use of it"
	case v.Consequence == v.Line:
		return "this line is the use"
	case v.Found == "":
		return fmt.Sprintf("line %d uses the deallocated object", v.Consequence)
	case v.Found == v.Type:
		return fmt.Sprintf("line %d uses the deallocated object; another %s is found there", v.Consequence, v.Found)
	}
	return fmt.Sprintf("line %d uses the deallocated object; a %s is found there", v.Consequence, v.Found)
}
