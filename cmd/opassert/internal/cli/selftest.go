package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/faults"
	"github.com/opassert/opassert/internal/testbed/selftest"
)

func runSelftest(inv *invocation) error {
	list := inv.flags.Bool("list", false, "")
	if err := inv.parse(0, 1); err != nil {
		return err
	}
	if *list {
		for _, f := range faults.All() {
			fmt.Fprintf(inv.stdout, "%-40s %v  %s\n", f.Op, f.Code, f.Why)
		}
		return nil
	}
	if inv.flags.NArg() == 1 {
		return inv.showFault(inv.flags.Arg(0))
	}
	report := selftest.Run()
	err := report.Write(inv.stdout)
	if err == nil && len(report.Wrong()) > 0 {
		return errFindings
	}
	return err
}

func (inv *invocation) showFault(name string) error {
	results := selftest.Faults()
	i := slices.IndexFunc(results, func(r selftest.FaultResult) bool {
		seen := r.Fault.Schema != "" || r.Level == max(asserts.Content, r.Fault.Code.Level())
		return seen && (r.Fault.Op == name || strings.TrimPrefix(r.Fault.Op, "fault::") == name)
	})
	if i < 0 {
		return fmt.Errorf("no planted fault %q; opassert selftest -list has their names", name)
	}
	r := results[i]
	fmt.Fprintf(inv.stdout, "%s %s\n\n", r.Fault.Op, r.Fault.Why)
	for _, v := range r.Ran.Violations {
		if err := v.WriteReport(inv.stdout); err != nil {
			return err
		}
	}
	for _, f := range r.Findings {
		fmt.Fprintf(inv.stdout, "%s\n%v %s: %s; %s\n", r.Fault.Schema, r.Fault.Code, f.Op, f.Message, f.Fix)
	}
	if r.Wrong != "" {
		fmt.Fprintf(inv.stdout, "which is wrong: %s\n", r.Wrong)
		return errFindings
	}
	return nil
}
