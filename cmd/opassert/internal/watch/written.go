package watch

import (
	"maps"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
)

// noteUnwritten adds notes of the arguments that schemas let ops write and that no call
// of many changed, in any process.
func (r *run) noteUnwritten(counts []countsOf) {
	for i, c := range counts {
		op := r.ops.all[i]
		if c.content == 0 || op.judged == nil || op.waived.Has(asserts.SchemaLint) {
			continue
		}
		for a := range op.judged.Args {
			subject := &op.judged.Args[a]
			calls, sizes, changed := c.writes(a)
			if changed || !hasWritten(subject) || !compare.EnoughCalls(calls, sizes) {
				continue
			}
			at := asserts.Place{Index: subject.Index, Name: subject.Name, Type: subject.Type, Element: asserts.NoElement, Aliased: true}
			pid := slices.Min(slices.Collect(maps.Keys(r.processes)))
			r.findings.add(compare.Unwritten(op.name, op.judged.Schema, at, compare.Itself, calls, sizes),
				&process{run: r, pid: pid, rank: r.processes[pid]}, nil, reporterContext{})
		}
	}
}

// hasWritten reports whether a schema has an argument written that every call has.
func hasWritten(s *asserts.Subject) bool {
	return s.Write && !s.Inside && !strings.HasSuffix(s.Type, "?")
}
