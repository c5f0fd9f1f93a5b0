package probe

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
)

var _ = add(Row{
	Name: "lost-copy", How: "with the copies that it makes of arguments tracked", At: Returned, Budget: some,
	Key:  wholeCall,
	When: func(c *Call) bool { return c.Traces() && len(unchanged(c)) > 0 },
	Find: func(r *Row, c *Call) (faults []asserts.Fault) {
		sites := c.LostWrites(c.Case)
		for _, name := range unchanged(c) {
			if site, ok := sites[name]; ok {
				f := r.Fault
				f.Argument, f.Site = name, site
				faults = append(faults, f)
			}
		}
		return faults
	},
	Fault:     lostWrite("lost-copy", "the kernel does not change {}, and writes a copy of it that is never read"),
	NoProgram: lintHasNone,
})

// unchanged returns the arguments that a call should write and does not change.
func unchanged(c *Call) (all []string) {
	for _, w := range compare.WritesOf(c.Judged, c.Seen) {
		if name := argument(c, w); !w.Changed && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
