package design

import (
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// An argument of a custom class is also tried with the result of each op that makes one.
func TestObjectsOfOps(t *testing.T) {
	parse := func(text string) *schema.Op {
		op := must.Get(schema.ParseDispatcher(text))(t)
		op.Namespace = "my"
		return op
	}
	const box, bag = "__torch__.torch.classes.my.Box", "__torch__.torch.classes.my.Bag"
	op := parse("my::f(" + box + "? b, Tensor x, str kind) -> ()")
	base := &sample.Case{Op: "my::f", Names: []string{"b", "x", "kind"}, Args: []sample.Value{{Kind: sample.NewValue, Text: box}, sample.Tensor("float32", 3), sample.Text("sum")}}
	makers := []*schema.Op{parse("my::box(bool sparse) -> " + box), parse("my::bag() -> " + bag)}
	d := NewDesign(engine.Operator{Schema: op, Added: true, Makers: makers, Texts: []string{"stochastic"}}, nil, 0, &Learned{Ran: []*sample.Case{base}})
	var got, words []string
	for _, class := range d.Classes {
		switch arg, name := class.Label(); {
		case arg == "b" && name != "None":
			got = append(got, name)
			c := base.Clone()
			if !class.ways[0](c) || c.Args[0].Recipe() != "my::box(false)" {
				t.Errorf("%s makes %s", name, c)
			}
		case arg == "kind":
			words = append(words, name)
		}
	}
	if !slices.Equal(got, []string{"made by my::box"}) {
		t.Errorf("classes of b: %q", got)
	}
	if !slices.Contains(words, `"stochastic"`) {
		t.Errorf("no word of the library among %q", words)
	}
}
