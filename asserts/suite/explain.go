package suite

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/schema"
)

// WriteExplained writes, for each op that never ran, what was tried, what the
// kernel said, and a case to start from. All of it is a file of cases, in which
// the rest is comments. Operators are those of the engine.
func (r *Report) WriteExplained(w io.Writer, operators []Operator) error {
	t := textWriter{w: w}
	for _, op := range r.Ops {
		i := slices.IndexFunc(operators, func(o Operator) bool { return o.Name() == op.Op })
		if op.Ran > 0 || i < 0 {
			t.line("# %s ran in %d of %d cases.", op.Op, op.Ran, op.Cases)
			continue
		}
		t.line("# %s never ran in %d cases: %s", op.Schema, op.Cases, oneLine(op.reason()))
		said := slices.SortedFunc(maps.Keys(op.Said), func(a, b string) int {
			return cmp.Or(cmp.Compare(op.Said[b], op.Said[a]), strings.Compare(a, b))
		})
		for _, text := range said[:min(len(said), mostSaid)] {
			t.line("#   %d times: %s", op.Said[text], oneLine(text))
		}
		for _, arg := range operators[i].Schema.Func.Args {
			if makers := makersOf(arg.Type, operators); makers != "" {
				t.line("# %s %s: %s", arg.Type, arg.Name, makers)
			}
		}
		from := "the attempt that came closest"
		if op.Closest == "" {
			from = "a call made from the schema alone"
			g := newGenerator(operators[i].Schema, new(Recipes))
			op.Closest = g.generate(newRandom(0, g.name, 0), 0).recipe()
		}
		t.line("# Start from %s, change what the kernel complains of, and run opassert check -cases-from FILE; see opassert help cases.", from)
		t.line("- ops: [%q]\n  cases:\n    - %s\n", op.Op, op.Closest)
	}
	return t.err
}

// mostSaid is how many errors of an op are written.
const mostSaid = 6

// oneLine shortens an error to its beginning.
func oneLine(text string) string {
	const most = 160
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// makersOf says how an argument of a custom class is made, "" for another.
func makersOf(t schema.Type, operators []Operator) string {
	class := unwrap(t).Name
	if !strings.HasPrefix(class, "__torch__.") {
		return ""
	}
	short := strings.TrimPrefix(class, customClasses)
	ways := []string{"its constructor, " + short + "(...)"}
	for _, o := range operators {
		if returns := o.Schema.Func.Returns; len(returns) > 0 && returns[0].Type.Name == class {
			ways = append(ways, o.Name()+"(...)")
		}
	}
	return "write " + strings.Join(ways, ", or ")
}

// recipe writes the arguments that are given as a case of a file of cases.
func (c *Case) recipe() string {
	var names []string // of the tensors
	for i := range c.Args {
		name := cmp.Or(c.Names[i], positional(i))
		for k := range c.Args[i].appendTensors(nil) {
			if c.Args[i].Kind == TensorValue {
				names = append(names, name)
			} else {
				names = append(names, fmt.Sprintf("%s[%d]", name, k))
			}
		}
	}
	c = c.clone()
	var words []string
	for i := range c.Args {
		c.Args[i].name(names)
		if text := c.Args[i].recipe(); c.Args[i].Kind != DefaultValue {
			words = append(words, cmp.Or(c.Names[i], positional(i))+": "+strconv.Quote(text))
		}
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// name refers by names to tensors that others are, or are views of.
func (v *Value) name(names []string) {
	for i := range v.List {
		v.List[i].name(names)
	}
	if v.Kind != TensorValue {
		return
	}
	switch t := v.Tensor; {
	case t.Same > 0 && t.Same <= len(names):
		*v = Value{Kind: SameValue, Text: "same:" + names[t.Same-1]}
	case t.View > 0 && t.View <= len(names):
		*v = Value{Kind: SameValue, Text: "view:" + names[t.View-1]}
	}
}
