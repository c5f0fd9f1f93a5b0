package suite

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/schema"
)

// WriteExplained writes, for each op that never ran, the cases that were tried, the kernel's errors, and a case to
// start from, as a file of cases with comments. operators are those of the engine.
func WriteExplained(w io.Writer, r *report.Report, operators []engine.Operator) error {
	var b strings.Builder
	for _, op := range r.Ops {
		i := slices.IndexFunc(operators, func(o engine.Operator) bool { return o.Name() == op.Op })
		if op.Ran > 0 || i < 0 {
			printable.Printf(&b, "# %s ran in %d of %d cases.\n", op.Op, op.Ran, op.Cases)
			continue
		}
		printable.Printf(&b, "# %s never ran in %d cases: %s\n", op.Schema, op.Cases, sample.Line(op.Reason()))
		said := slices.SortedFunc(maps.Keys(op.Said), func(a, b string) int {
			return cmp.Or(cmp.Compare(op.Said[b], op.Said[a]), strings.Compare(a, b))
		})
		for _, text := range said[:min(len(said), mostSaid)] {
			printable.Printf(&b, "#   %d times: %s\n", op.Said[text], sample.Line(text))
		}
		for _, arg := range operators[i].Schema.Func.Args {
			if makers := makersOf(arg.Type, operators); makers != "" {
				printable.Printf(&b, "# %s %s: %s\n", arg.Type, arg.Name, makers)
			}
		}
		from, start := "the attempt that came closest", op.Closest
		if start == "" {
			from = "a call made from the schema alone"
			g := design.NewGenerator(operators[i].Schema, new(design.Recipes))
			start = g.Generate(sample.NewRandom(0, g.Name, 0), 0).Recipe()
		}
		printable.Printf(&b, "# Start from %s, correct it as the kernel's errors ask, and run opassert check -cases FILE; "+
			"see opassert help cases.\n", from)
		printable.Printf(&b, "- ops: [%q]\n  cases:\n    - %s\n\n", op.Op, start)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const mostSaid = 6

// makersOf returns how an argument of a custom class is made, "" for others.
func makersOf(t schema.Type, operators []engine.Operator) string {
	class := design.Unwrap(t).Name
	if !strings.HasPrefix(class, "__torch__.") {
		return ""
	}
	ways := []string{"its constructor, " + strings.TrimPrefix(class, sample.CustomClasses) + "(...)"}
	for _, o := range operators {
		if returns := o.Schema.Func.Returns; len(returns) > 0 && returns[0].Type.Name == class {
			ways = append(ways, o.Name()+"(...)")
		}
	}
	return "write " + strings.Join(ways, ", or ")
}
