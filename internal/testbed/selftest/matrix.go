package selftest

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/opassert/opassert/internal/testbed/faults"
)

// Results are those of the self-test.
type Results struct {
	Faults  []FaultResult
	Healthy Calls
}

// Run runs the self-test.
func Run() Results { return Results{Faults(), Healthy()} }

// Wrong lists the failures.
func (r Results) Wrong() []string {
	var wrong []string
	for _, f := range r.Faults {
		if f.Wrong != "" {
			wrong = append(wrong, fmt.Sprintf("fault %s (%s) at the level %v: %s", f.Fault.Op, f.Fault.Why, f.Level, f.Wrong))
		}
	}
	return append(wrong, r.Healthy.Wrong...)
}

// Write prints the fault matrix, then the faults known by name, the failures, and the counts.
func (r Results) Write(w io.Writer) error {
	right := map[string]bool{}
	for _, f := range r.Faults {
		others, seen := right[f.Fault.Op]
		right[f.Fault.Op] = f.Wrong == "" && (others || !seen)
	}
	for i, reason := range writeMatrix(w, right) {
		fmt.Fprintf(w, "(%d) impossible: %s\n", i+1, reason)
	}
	fmt.Fprintln(w)
	wrong := r.Wrong()
	for _, text := range wrong {
		fmt.Fprintln(w, text)
	}
	_, err := fmt.Fprintf(w, "%d planted faults at %d levels, %d calls of healthy kernels under %d modes: %d went wrong\n",
		len(faults.All()), len(levels)+1, r.Healthy.Made, len(Modes()), len(wrong))
	return err
}

// writeMatrix prints a line for each check and kind of subject, with a column for
// each class of op. It returns the reasons that its cells refer to.
func writeMatrix(w io.Writer, right map[string]bool) []string {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tab, "CHECK\tSUBJECT")
	for _, class := range faults.Classes() {
		fmt.Fprintf(tab, "\t%s", class)
	}
	var reasons []string
	for i, c := range faults.Matrix() {
		if i%len(faults.Classes()) == 0 {
			fmt.Fprintf(tab, "\n%v %s\t%s", c.Code, c.Code.Name(), c.Kind)
		}
		if c.Impossible == "" {
			fmt.Fprintf(tab, "\t%s", cell(c, right))
			continue
		}
		n := slices.Index(reasons, c.Impossible)
		if n < 0 {
			n = len(reasons)
			reasons = append(reasons, c.Impossible)
		}
		fmt.Fprintf(tab, "\t(%d)", n+1)
	}
	fmt.Fprintln(tab)
	tab.Flush()
	fmt.Fprintln(w)
	return reasons
}

func cell(c faults.Cell, right map[string]bool) string {
	n := 0
	for _, f := range c.Faults {
		if right[f.Op] {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(c.Faults))
}
