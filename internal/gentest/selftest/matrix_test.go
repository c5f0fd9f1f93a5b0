package selftest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/c10/faults"
)

var update = flag.Bool("update", false, "write testdata/matrix.txt anew")

// The fault matrix, cell by cell: at which levels what is planted is found, or
// why nothing can be.
func TestMatrix(t *testing.T) {
	got := matrix(Faults())
	if *update {
		if err := os.WriteFile("testdata/matrix.txt", []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the fault matrix (-want +got), which -update writes:\n%s", diff)
	}
}

// matrix has a line for each check and kind of subject, a column for each class
// of op.
func matrix(results []FaultResult) string {
	var b strings.Builder
	fmt.Fprint(&b, "CHECK\tSUBJECT\tHEALTHY\tVIEW\tIN-PLACE\tOUT-OF-PLACE") // not aligned: a new check is new lines
	healthy := healthyPlaces()
	for i, c := range faults.Matrix() {
		if i%len(faults.Classes()) == 0 {
			fmt.Fprintf(&b, "\n%s\t%s\t%v", c.Code.Name(), c.Kind, healthy[place{c.Code, c.Kind}])
		}
		fmt.Fprintf(&b, "\t%s", outcome(c, results))
	}
	fmt.Fprintln(&b)
	return b.String()
}

// outcome says at which levels every fault of a cell is found.
func outcome(c faults.Cell, results []FaultResult) string {
	if c.Impossible != "" {
		return "(" + c.Impossible + ")"
	}
	var found, missed []string
	for _, r := range results {
		if r.Fault.Code != c.Code || r.Fault.Kind != c.Kind || r.Fault.Class != c.Class || r.Level < c.Code.Level() {
			continue
		}
		level := r.Level.String()
		if r.Wrong != "" {
			missed = append(missed, level)
		} else if !slices.Contains(found, level) {
			found = append(found, level)
		}
	}
	if len(missed) > 0 {
		return "missed at " + strings.Join(missed, " ")
	}
	return strings.Join(found, " ")
}
