package selftest

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/opassert/opassert/asserts/c10/faults"
)

// A Report is the whole of the self-test.
type Report struct {
	Faults  []FaultResult
	Healthy []HealthyResult
}

// Run runs the whole of the self-test.
func Run() Report { return Report{Faults(), Healthy()} }

// Wrong counts what did not go as it should.
func (r Report) Wrong() int {
	n := 0
	for _, f := range r.Faults {
		if f.Wrong != "" {
			n++
		}
	}
	for _, h := range r.Healthy {
		if h.Wrong != "" {
			n++
		}
	}
	return n
}

// Write prints the fault matrix, then the faults known by name, then what went
// wrong, then the counts.
func (r Report) Write(w io.Writer) error {
	results := map[string]FaultResult{}
	for _, f := range r.Faults {
		results[f.Fault.Op] = f
	}
	reasons := r.writeMatrix(w, results)
	for i, reason := range reasons {
		fmt.Fprintf(w, "(%d) impossible: %s\n", i+1, reason)
	}
	fmt.Fprintln(w)
	for _, f := range r.Faults {
		if f.Wrong != "" {
			fmt.Fprintf(w, "FAULT %s: %s\n  %s\n", f.Fault.Op, f.Wrong, f.Fault.Why)
		}
	}
	for _, h := range r.Healthy {
		if h.Wrong != "" {
			fmt.Fprintf(w, "HEALTHY %s, %s, under %s: %s\n", h.Sample.Op, h.Sample.Name, h.Mode, h.Wrong)
		}
	}
	_, err := fmt.Fprintf(w, "%d planted faults, %d calls of healthy kernels under %d modes: %d went wrong\n",
		len(r.Faults), len(r.Healthy), len(Modes()), r.Wrong())
	return err
}

// writeMatrix prints a line for each check and kind of subject, a column for
// each class of op. It gives the reasons that its cells refer to.
func (r Report) writeMatrix(w io.Writer, results map[string]FaultResult) []string {
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
			fmt.Fprintf(tab, "\t%s", cell(c, results))
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

// cell says how many of a cell's faults were reported as they should be.
func cell(c faults.Cell, results map[string]FaultResult) string {
	right := 0
	for _, f := range c.Faults {
		if r, ran := results[f.Op]; ran && r.Wrong == "" {
			right++
		}
	}
	return fmt.Sprintf("%d of %d", right, len(c.Faults))
}
