package suite

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/opassert/opassert/schema"
)

// A theme is what the tensors of a case have in common.
type theme struct {
	dtype       string
	sizes       []int64
	arrangement Arrangement
	form        Form
	same        bool // tensors of one dtype and size are one tensor
	edge        bool // arguments take the values that make many ops do nothing
	vary        bool // arguments with a default take other values
	outs        outSize
}

// outSize says how large out arguments are.
type outSize uint8

const (
	emptyOut outSize = iota // resized by the op
	sizedOut                // of the theme's sizes
)

// themes are those of the first cases: plain ones, so that most ops run, and
// the edges, which find more than volume does.
var themes = []theme{
	{dtype: "float32", sizes: []int64{3, 3}},
	{dtype: "float32", sizes: []int64{3, 3}, edge: true, outs: sizedOut},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}},
	{dtype: "int64", sizes: []int64{3}},
	{dtype: "float32", sizes: []int64{0, 3}},
	{dtype: "float32", sizes: []int64{1, 1}, edge: true},
	{dtype: "float32", sizes: []int64{}},
	{dtype: "float32", sizes: []int64{3, 3}, same: true, outs: sizedOut},
	{dtype: "float32", sizes: []int64{3, 3}, arrangement: Transposed, edge: true},
	{dtype: "float64", sizes: []int64{2, 3}, arrangement: Sliced},
	{dtype: "float32", sizes: []int64{3, 3}, arrangement: Expanded},
	{dtype: "bool", sizes: []int64{2, 3}},
	{dtype: "complex64", sizes: []int64{3, 3}},
	{dtype: "bfloat16", sizes: []int64{2, 3, 4}},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}, arrangement: ChannelsLast, edge: true},
	{dtype: "float32", sizes: []int64{3, 3}, form: COO},
	{dtype: "float32", sizes: []int64{3, 3}, form: CSR},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}, form: Quantized},
	{dtype: "float32", sizes: []int64{2, 3, 4, 4}, form: Mkldnn},
	{dtype: "float32", sizes: []int64{3, 3}, form: Functional},
	{dtype: "int32", sizes: []int64{3, 3}, vary: true},
	{dtype: "uint8", sizes: []int64{3, 3}, edge: true},
	{dtype: "complex64", sizes: []int64{3, 3}, form: Conjugate},
	{dtype: "float32", sizes: []int64{3, 3}, form: Named},
	{dtype: "float32", sizes: []int64{3, 3}, form: Nested},
	{dtype: "float32", sizes: []int64{2, 3, 4}, vary: true},
	{dtype: "float32", sizes: []int64{1, 2, 3, 4, 4}, vary: true},
	{dtype: "float64", sizes: []int64{0}, vary: true},
	{dtype: "float32", sizes: []int64{2, 3, 3}, form: NestedEven},
	{dtype: "float32", sizes: []int64{3, 3}, form: COOUncoalesced},
	{dtype: "float32", sizes: []int64{3, 3}, form: COOHybrid},
}

var (
	commonDTypes = []string{"float32", "float32", "float32", "float64", "bfloat16", "int64", "int32", "bool", "uint8", "complex64"}
	shapes       = [][]int64{{}, {3}, {3, 3}, {2, 3}, {2, 3, 4}, {2, 3, 4, 4}, {1, 2, 3, 4, 4}, {0}, {1}, {2, 0, 3}, {1, 1}, {4, 4}, {2, 3, 3}}
	commonForms  = []Form{Strided, Strided, Strided, Strided, Strided, COO, COOUncoalesced, CSR, Quantized, Mkldnn, Functional, Zero, Inference, Negative}
)

func themeOf(r *rand.Rand, number int) theme {
	if number < len(themes) {
		return themes[number]
	}
	th := theme{
		dtype: pick(r, commonDTypes), sizes: pick(r, shapes), form: pick(r, commonForms),
		same: oneIn(r, 8), edge: oneIn(r, 2), vary: oneIn(r, 2), outs: outSize(r.IntN(2)),
	}
	if th.form == Strided {
		th.arrangement = Arrangement(r.IntN(len(arrangements)))
	}
	return th
}

// A generator makes the cases of one op.
type generator struct {
	op      *schema.Op
	name    string // with the namespace
	recipes []*recipe
}

// newGenerator takes the recipes that are for the op.
func newGenerator(op *schema.Op, book *Recipes) *generator {
	return &generator{op: op, name: op.Namespace + "::" + op.Func.Name.String(), recipes: book.of(op.Namespace, op.Func.Name)}
}

// openings is how many cases are made from the schema alone: each recipe, and
// each theme.
func (g *generator) openings() int { return len(g.recipes) + len(themes) }

// theme returns that of a case.
func (g *generator) theme(r *rand.Rand, number int) theme {
	if number < len(g.recipes) {
		return themes[0]
	}
	return themeOf(r, number-len(g.recipes))
}

// generate makes case number n. Where there are recipes, they take the first
// cases, and of the others all but each fourth in turn.
func (g *generator) generate(r *rand.Rand, number int) *Case {
	th := g.theme(r, number)
	c := &Case{Op: g.name, Number: number}
	var from *caseRecipe
	if n := len(g.recipes); n > 0 && (number < n || number%4 != 3) {
		from = &caseRecipe{g.recipes[number%n], newSymbols(number / n)}
	}
	c.Agreed = from != nil
	for i, arg := range g.op.Func.Args {
		c.Names = append(c.Names, arg.Name)
		c.Args = append(c.Args, g.argument(r, i, &th, from, number))
	}
	c.refer()
	if th.same {
		g.unify(c)
	}
	g.mark(c)
	return c
}

func (g *generator) argument(r *rand.Rand, i int, th *theme, from *caseRecipe, number int) Value {
	arg := g.op.Func.Args[i]
	if from != nil {
		if v, ok := from.argument(arg.Name, i, th, number); ok {
			return v
		}
		if arg.Default != "" && !th.edge && !th.vary {
			return Value{}
		}
	}
	if arg.Default != "" && !th.edge && (!th.vary || oneIn(r, 2)) {
		return Value{}
	}
	return candidate(r, arg, th)
}

// mark lets what results go into hold other values than what they are computed
// from, for else a copy changes nothing.
func (g *generator) mark(c *Case) {
	for i, arg := range g.op.Func.Args {
		if outName(arg) {
			for _, t := range c.Args[i].appendTensors(nil) {
				if t.Fill.Name == "" && t.Same == 0 && size(t.Sizes) > 0 && (t.Form == Strided || t.Form == Quantized) {
					t.Fill.Name = "count"
				}
			}
		}
	}
}

// unify makes tensors that could be one tensor the same one; what an op
// puts its results into is none of the others.
func (g *generator) unify(c *Case) {
	outs := outsOf(g.op, c)
	all := c.tensors()
	for i, t := range all {
		for j, earlier := range all[:i] {
			if !outs[i] && earlier.Same == 0 && t.DType == earlier.DType && t.Form == earlier.Form && slices.Equal(t.Sizes, earlier.Sizes) {
				t.Same = j + 1
				break
			}
		}
	}
}

// outName reports whether an argument is one that the op puts results into.
func outName(arg schema.Argument) bool {
	return arg.Out || strings.HasPrefix(arg.Name, "out") && arg.Alias != nil
}
