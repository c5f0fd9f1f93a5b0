package selftest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/testbed/faults"
)

// The fault matrix, cell by cell: the levels at which the planted faults are found,
// or why none is possible. Each check has a file: a new check changes no other's.
func TestMatrix(t *testing.T) {
	for name, got := range matrix(Faults()) {
		golden.Compare(t, name+".txt", got)
	}
}

// matrix returns, by check, a line for each kind of subject, with a column for each
// class of op.
func matrix(results []FaultResult) map[string]string {
	tables := map[string]string{}
	healthy := healthyPlaces()
	for i, c := range faults.Matrix() {
		name := c.Code.Name()
		if tables[name] == "" {
			tables[name] = "SUBJECT\tHEALTHY\tVIEW\tIN-PLACE\tOUT-OF-PLACE\n"
		}
		if i%len(faults.Classes()) == 0 {
			tables[name] += fmt.Sprintf("%s\t%v", c.Kind, healthy[place{c.Code, c.Kind}])
		}
		tables[name] += "\t" + outcome(c, results)
		if i%len(faults.Classes()) == len(faults.Classes())-1 {
			tables[name] += "\n"
		}
	}
	return tables
}

// outcome returns the levels at which every fault of a cell is found.
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
