package design

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// A theme holds the properties that the tensors of a case have in common.
type theme struct {
	dtype       string
	sizes       []int64
	arrangement tensor.Arrangement
	form        engine.Form
	same        bool // tensors of one dtype and size are one tensor
	edge        bool // arguments take the values that make many ops do nothing
	vary        bool // arguments with a default take other values
	outs        outSize
}

// outSize describes how large out arguments are.
type outSize uint8

const (
	emptyOut outSize = iota // resized by the op
	sizedOut                // of the theme's sizes
)

// Themes are those of the first cases: plain ones, so that most ops run, and
// the edges, which find more than volume does.
var Themes = []theme{
	{dtype: "float32", sizes: []int64{3, 3}},
	{dtype: "float32", sizes: []int64{3, 3}, edge: true, outs: sizedOut},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}},
	{dtype: "int64", sizes: []int64{3}},
	{dtype: "float32", sizes: []int64{0, 3}},
	{dtype: "float32", sizes: []int64{1, 1}, edge: true},
	{dtype: "float32", sizes: []int64{}},
	{dtype: "float32", sizes: []int64{3, 3}, same: true, outs: sizedOut},
	{dtype: "float32", sizes: []int64{3, 3}, arrangement: tensor.Transposed, edge: true},
	{dtype: "float64", sizes: []int64{2, 3}, arrangement: tensor.Sliced},
	{dtype: "float32", sizes: []int64{3, 3}, arrangement: tensor.Expanded},
	{dtype: "bool", sizes: []int64{2, 3}},
	{dtype: "complex64", sizes: []int64{3, 3}},
	{dtype: "bfloat16", sizes: []int64{2, 3, 4}},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}, arrangement: tensor.ChannelsLast, edge: true},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.COO},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.CSR},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}, form: engine.Quantized},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}, form: engine.Mkldnn},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.Functional},
	{dtype: "int32", sizes: []int64{3, 3}, vary: true},
	{dtype: "uint8", sizes: []int64{3, 3}, edge: true},
	{dtype: "complex64", sizes: []int64{3, 3}, form: engine.Conjugate},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.Named},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.Nested},
	{dtype: "float32", sizes: []int64{2, 3, 4}, vary: true},
	{dtype: "float32", sizes: []int64{1, 2, 3, 4, 4}, vary: true},
	{dtype: "float64", sizes: []int64{0}, vary: true},
	{dtype: "float32", sizes: []int64{2, 3, 3}, form: engine.NestedEven},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.COOUncoalesced},
	{dtype: "float32", sizes: []int64{3, 3}, form: engine.COOHybrid},
}

var (
	commonDTypes = []string{"float32", "float32", "float32", "float64", "bfloat16", "int64", "int32", "bool", "uint8", "complex64"}
	shapes       = [][]int64{{}, {3}, {3, 3}, {2, 3}, {2, 3, 4}, {2, 3, 4, 4}, {1, 2, 3, 4, 4}, {0}, {1}, {2, 0, 3}, {1, 1}, {4, 4}, {2, 3, 3}}
	commonForms  = []engine.Form{engine.Strided, engine.Strided, engine.Strided, engine.Strided, engine.Strided, engine.COO, engine.COOUncoalesced, engine.CSR, engine.Quantized, engine.Mkldnn, engine.Functional, engine.Zero, engine.Inference, engine.Negative}
)

func themeOf(r *rand.Rand, number int) theme {
	if number < len(Themes) {
		return Themes[number]
	}
	th := theme{
		dtype: sample.Pick(r, commonDTypes), sizes: sample.Pick(r, shapes), form: sample.Pick(r, commonForms),
		same: sample.OneIn(r, 8), edge: sample.OneIn(r, 2), vary: sample.OneIn(r, 2), outs: outSize(r.IntN(2)),
	}
	if th.form == engine.Strided {
		th.arrangement = tensor.Arrangement(r.IntN(int(tensor.Padded))) // which has a class of its own
	}
	return th
}

// A Generator makes the cases of one op.
type Generator struct {
	op      *schema.Op
	Name    string // with the namespace
	Recipes []*Recipe
}

// NewGenerator takes the recipes that are for the op.
func NewGenerator(op *schema.Op, book *Recipes) *Generator {
	return &Generator{op: op, Name: op.Namespace + "::" + op.Func.Name.String(), Recipes: book.of(op.Namespace, op.Func.Name)}
}

// Openings is how many cases are made from the schema alone: each recipe, and
// each theme.
func (g *Generator) Openings() int { return len(g.Recipes) + len(Themes) }

// Theme returns that of a case.
func (g *Generator) Theme(r *rand.Rand, number int) theme {
	if number < len(g.Recipes) {
		return Themes[0]
	}
	return themeOf(r, number-len(g.Recipes))
}

// Generate makes case number n. Where there are recipes, they take the first
// cases, and of the others all but each fourth in turn.
func (g *Generator) Generate(r *rand.Rand, number int) *sample.Case {
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

func (g *Generator) argument(r *rand.Rand, i int, th *theme, from *caseRecipe, number int) sample.Value {
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

// mark fills out arguments with other values than the inputs have; otherwise a
// copy would change nothing.
func (g *Generator) mark(c *sample.Case) {
	for i, arg := range g.op.Func.Args {
		if IsOut(arg) {
			for _, t := range c.Args[i].AppendTensors(nil) {
				if t.Fill.Name == "" && sample.Size(t.Sizes) > 0 && (t.Form == engine.Strided || t.Form == engine.Quantized) {
					t.Fill.Name = "count"
				}
			}
		}
	}
}

// unify makes tensors that could be one tensor the same one, except for out
// arguments.
func (g *Generator) unify(c *sample.Case) {
	outs := outsOf(g.op, c)
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

// IsOut reports whether an argument is one that the op puts results into.
func IsOut(arg schema.Argument) bool {
	return arg.Out || strings.HasPrefix(arg.Name, "out") && arg.Alias != nil
}
