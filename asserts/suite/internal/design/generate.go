package design

import (
	"math/rand/v2"
	"slices"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// A CaseGenerator makes the cases of one op.
type CaseGenerator struct {
	op      *schema.Op
	Name    string // with the namespace
	Recipes []*Recipe
}

// NewGenerator selects the recipes for the op.
func NewGenerator(op *schema.Op, book *Recipes) *CaseGenerator {
	return &CaseGenerator{op: op, Name: op.Namespace + "::" + op.Func.Name.String(),
		Recipes: book.of(op.Namespace, op.Func.Name)}
}

// Openings returns the number of cases made from the schema alone: each recipe, and each theme.
func (g *CaseGenerator) Openings() int { return len(g.Recipes) + len(Themes) }

// Theme returns the theme of a case.
func (g *CaseGenerator) Theme(r *rand.Rand, number int) theme {
	if number < len(g.Recipes) {
		return Themes[0]
	}
	return themeOf(r, number-len(g.Recipes))
}

// Generate makes case number n. Recipes have the first cases, and of the others all but each fourth in turn.
func (g *CaseGenerator) Generate(r *rand.Rand, number int) *sample.Case {
	th := g.Theme(r, number)
	c := &sample.Case{Op: g.Name, Number: number}
	var from *caseRecipe
	if n := len(g.Recipes); n > 0 && (number < n || number%4 != 3) {
		from = &caseRecipe{g.Recipes[number%n], sample.NewSymbols(number / n)}
	}
	c.Agreed = from != nil
	for i, arg := range g.op.Func.Args {
		c.Names = append(c.Names, arg.Name)
		c.Args = append(c.Args, g.argument(r, i, &th, from, number))
	}
	c.Refer()
	if th.same {
		g.unify(c)
	}
	g.mark(c)
	return c
}

func (g *CaseGenerator) argument(r *rand.Rand, i int, th *theme, from *caseRecipe, number int) sample.Value {
	arg := g.op.Func.Args[i]
	if from != nil {
		if v, ok := from.argument(arg.Name, i, th, number); ok {
			return v
		}
	}
	if arg.Default != "" && !th.edge && (!th.vary ||
		sample.OneIn(r, 2)) { //mutate:equivalent not: as often
		return sample.Value{}
	}
	return candidate(r, arg, th)
}

// mark fills out arguments with values that the inputs do not have; otherwise a copy would change nothing.
func (g *CaseGenerator) mark(c *sample.Case) {
	for i, arg := range g.op.Func.Args {
		if IsOut(arg) {
			for _, t := range c.Args[i].AppendTensors(nil) {
				if t.Fill.Name == "" && tensor.Numel(t.Sizes) > 0 && (t.Form == engine.Strided || t.Form == engine.Quantized) {
					t.Fill.Name = "count"
				}
			}
		}
	}
}

func (g *CaseGenerator) unify(c *sample.Case) {
	outs := OutsOf(g.op, c)
	all := c.Tensors()
	for i, t := range all {
		for j, earlier := range all[:i] {
			if !outs[i] && t.DType == earlier.DType && t.Form == earlier.Form && slices.Equal(t.Sizes, earlier.Sizes) {
				t.Same = j + 1
				break
			}
		}
	}
}
