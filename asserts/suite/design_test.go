package suite

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/internal/work"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
	"github.com/opassert/opassert/testdata/conformance"
)

// A willing engine accepts every call.
type willing struct{ *fakeEngine }

func (willing) Make(engine.Dense, engine.Form) (engine.Tensor, error) {
	return &fakeTensor{new(fakeImpl)}, nil
}
func (willing) View(engine.Tensor, engine.Dense) (engine.Tensor, error) {
	return &fakeTensor{new(fakeImpl)}, nil
}
func (willing) Storage(engine.Tensor) (any, error)              { return nil, nil }
func (willing) Subjects(*asserts.Op) *asserts.Op                { return new(asserts.Op) }
func (willing) Harmless(*asserts.Op, *asserts.Violation) string { return "" }
func (willing) Call(string, []any, asserts.Level) (engine.Outcome, error) {
	return engine.Outcome{Results: []any{nil}}, nil
}

// plannedCalls returns the different calls of an op's cases in order, the value classes that each
// case tries, and the calls of recipes; the pairs only if pairs is set.
func plannedCalls(t *testing.T, op *schema.Op, book *design.Recipes, pairs bool) (calls []*sample.Case, tried [][]string, recipes []*sample.Case) {
	t.Helper()
	r := &work.Runner{Engine: willing{}, Policy: asserts.Aware(), Seed: report.DefaultSeed}
	target := work.NewTarget(r.Engine, engine.Operator{Schema: op, Below: true}, engine.Checks{}, book)
	var call *sample.Case
	target.Trying = func(c *sample.Case) {
		if c != nil {
			call = c
		}
	}
	enough := errors.New("enough")
	err := r.Cases(target, work.Span{To: work.AllCases}, func(int) { call = nil }, func(c *report.CaseResult) error {
		if len(c.Tried) > 1 && !pairs {
			return enough
		}
		if call != nil {
			calls = append(calls, call)
		}
		if c.Ran {
			tried = append(tried, c.Tried)
		}
		return nil
	})
	if err != nil && err != enough {
		t.Fatal(err)
	}
	return calls, tried, target.Recipes
}

// recipeOps are the ops with recipes: of PyTorch's schema file, the newest version and the oldest,
// and of its libraries of quantized and mkldnn ops.
func recipeOps(t *testing.T, book *design.Recipes) []*schema.Op {
	t.Helper()
	byName := make(map[string]*schema.Op)
	add := func(op *schema.Op, err error) {
		if err != nil {
			t.Fatal(err)
		}
		if name := op.Namespace + "::" + op.Func.Name.String(); byName[name] == nil && book.For(op) {
			byName[name] = op
		}
	}
	for _, version := range []string{conformance.Versions[len(conformance.Versions)-1], conformance.Versions[0]} {
		table := must.Get(conformance.Load(version))(t)
		for _, op := range table.Ops {
			add(schema.ParseOp(op.Schema))
		}
	}
	more := must.Get(os.ReadFile("testdata/recipe_ops.txt"))(t)
	for line := range strings.Lines(string(more)) {
		add(schema.ParseDispatcher(strings.TrimSpace(line)))
	}
	var all []*schema.Op
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all
}

// Every recipe is among an op's cases, unchanged, with a dimension less, with no element, with each
// optional argument omitted and given, and with each flag both ways.
func TestEveryRecipeVaries(t *testing.T) {
	book := must.Get(design.Shipped())(t)
	unserved := make(map[*design.Recipe]bool)
	for _, r := range *book {
		unserved[r] = true
	}
	ops := recipeOps(t, book)
	missed := 0
	for _, op := range ops {
		calls, _, recipes := plannedCalls(t, op, book, false)
		for i, recipe := range design.NewGenerator(op, book).Recipes {
			delete(unserved, recipe)
			for _, what := range lacks(op, recipes[i], calls) {
				if missed++; missed < 30 {
					t.Errorf("%s, recipe %d of %s: no case with %s", op.Func.Name, i+1, recipe.Ops[0].Value, what)
				}
			}
		}
	}
	for r := range unserved {
		t.Errorf("no op here has the recipe for %s", r.Ops[0].Value)
	}
	t.Logf("%d ops, %d variations missed", len(ops), missed)
}

// lacks returns the variations of a call that are missing.
func lacks(op *schema.Op, call *sample.Case, calls []*sample.Case) []string {
	var all []string
	lack := func(what string, is func(c *sample.Case) bool) {
		if !slices.ContainsFunc(calls, is) {
			all = append(all, what)
		}
	}
	if ins := inputsOf(call, op); len(ins) > 0 && design.Model(ins) != nil {
		lack("a dimension less", func(c *sample.Case) bool {
			less, same := false, slices.EqualFunc(ins, inputsOf(c, op), func(a, b *sample.TensorSpec) bool { return len(a.Sizes)-len(b.Sizes) <= 1 })
			for i, in := range inputsOf(c, op) {
				less = less || same && len(in.Sizes) == len(ins[i].Sizes)-1
			}
			return less && sameNumbers(call, c)
		})
		lack("no element", func(c *sample.Case) bool {
			return sameNumbers(call, c) && slices.ContainsFunc(inputsOf(c, op), func(t *sample.TensorSpec) bool { return slices.Contains(t.Sizes, 0) })
		})
	}
	for i, arg := range op.Func.Args {
		with := func(is func(v sample.Value) bool) func(c *sample.Case) bool {
			return func(c *sample.Case) bool { return sameBut(call, c, i) && is(value(arg, c.Args[i])) }
		}
		if arg.Type.Kind == schema.Optional {
			lack(arg.Name+" left out", with(func(v sample.Value) bool { return v.Kind == sample.NoneValue }))
			if makeable(design.Unwrap(arg.Type)) {
				lack(arg.Name+" given", with(func(v sample.Value) bool { return v.Kind != sample.NoneValue }))
			}
		}
		if design.Unwrap(arg.Type).Name == "bool" && design.Unwrap(arg.Type).Kind == schema.Base {
			for _, b := range []bool{true, false} {
				lack(fmt.Sprintf("%s=%v", arg.Name, b), with(func(v sample.Value) bool { return v.String() == sample.Bool(b).String() }))
			}
		}
	}
	return all
}

// inputsOf returns the tensors that are not results.
func inputsOf(c *sample.Case, op *schema.Op) []*sample.TensorSpec {
	var ins []*sample.TensorSpec
	for i, arg := range op.Func.Args {
		if !design.IsOut(arg) {
			ins = c.Args[i].AppendTensors(ins)
		}
	}
	return ins
}

// value returns the value of an argument, with its default resolved.
func value(arg schema.Argument, v sample.Value) sample.Value {
	switch {
	case v.Kind != sample.DefaultValue:
		return v
	case arg.Default == "None":
		return sample.None()
	case arg.Default == "True" || arg.Default == "False":
		return sample.Bool(arg.Default == "True")
	}
	return v
}

// makeable reports whether there are values of a type without a recipe.
func makeable(t schema.Type) bool {
	return t.Kind == schema.List || t.Name == "Tensor" || len(design.ScalarValues(t.Name, []engine.Device{engine.CPU})) > 0 || t.Name == "str"
}

// sameBut reports whether two calls are equal in every argument except one.
func sameBut(a, b *sample.Case, but int) bool {
	for i := range a.Args {
		if i != but && a.Args[i].String() != b.Args[i].String() {
			return false
		}
	}
	return true
}

// sameNumbers reports whether two calls are equal in every argument without tensors.
func sameNumbers(a, b *sample.Case) bool {
	for i := range a.Args {
		if len(a.Args[i].AppendTensors(nil)) == 0 && a.Args[i].String() != b.Args[i].String() {
			return false
		}
	}
	return true
}

// Each value class of each argument is tried alone, once, before two are tried together.
func TestClassesComeBeforePairs(t *testing.T) {
	usual := map[string][]string{
		"bool": {"true", "false"}, "int": {"-1", "0", "1", "2", "1000"}, "float": {"-1", "0", "-0", "0.5", "1", "1e-310", "NaN", "+Inf"},
		"Scalar": {"-1", "0", "1", "true", "NaN"}, "str": {`"mean"`, `"sum"`, `"none"`}, "ScalarType": {"float16", "bfloat16", "int64", "bool"},
		"MemoryFormat": {"channels_last", "contiguous_format"}, "Generator": {"generator(7)"}, "int[]": {"[]", "[0, 1]", "[-1, -1]"}, "int[2]": {"[1, 1]", "[2, 2]", "[0, 1]"},
		"Tensor": {"float64", "float16", "bfloat16", "int64", "uint8 max", "int64 lowest", "bool const:0", "bool const:1", "transposed", "sliced", "expanded", "offset",
			"requires-grad", "inference", "neg", "conj", "0-dim", "empty", "one element", "const:NaN", "const:-0", "subnormal", "negative", "max", "int64[1] const:1"},
		"Tensor[]": {"[]", "[Tensor ]", "[Tensor Tensor Tensor ]"},
		"tensors":  {"unbatched", "first dimension 0", "more than 4096", "more than 32768", "channels 16", "last dimension 64", "same tensor 1 and 2", "views of one storage 1 and 2"},
	}
	for _, text := range []string{
		"a(Tensor self, Tensor other, Scalar alpha=1, *, ScalarType? dtype=None, MemoryFormat? memory_format=None) -> Tensor",
		"b(Tensor[] all, Tensor? weight=None, int dim=0, bool keepdim=False, bool? flag=None, float eps=1e-05) -> Tensor",
		"c(Tensor self, Tensor x, int[2] stride=1, int[] dims=[], str reduction='mean', *, Generator? generator=None) -> Tensor",
	} {
		op := must.Get(schema.ParseOp(text))(t)
		_, tried, _ := plannedCalls(t, op, new(design.Recipes), true)
		alone, together := make(map[string]int), 0
		for i, labels := range tried {
			if len(labels) == 1 {
				alone[labels[0]]++
				if together > 0 && i < len(tried)-design.Randomly {
					t.Errorf("%s: %s comes alone after pairs", op.Func.Name, labels[0])
				}
			} else if len(labels) > 1 {
				together++
				for _, label := range labels {
					if alone[label] == 0 {
						t.Errorf("%s: %s was not tried before the pair %v", op.Func.Name, label, labels)
					}
				}
			}
		}
		for label, n := range alone {
			if n > 1 {
				t.Errorf("%s: %s is tried %d times", op.Func.Name, label, n)
			}
		}
		if together < 20 {
			t.Errorf("%s: %d cases with several classes", op.Func.Name, together)
		}
		want := map[string][]string{"tensors": usual["tensors"]}
		for _, arg := range op.Func.Args {
			want[arg.Name] = usual[design.Unwrap(arg.Type).String()]
			if arg.Type.Kind == schema.Optional {
				want[arg.Name] = append(slices.Clone(want[arg.Name]), "None")
				if arg.Type.String() == "Tensor?" {
					want[arg.Name] = []string{"None", "given", "const:0", "special", "float16", "expanded"}
				}
			}
		}
		for arg, classes := range want {
			if len(classes) == 0 {
				t.Errorf("%s: the test knows no class of %s", op.Func.Name, arg)
			}
			for _, class := range classes {
				if alone[arg+": "+class] == 0 {
					t.Errorf("%s: the class %s of %s is not tried", op.Func.Name, class, arg)
				}
			}
		}
	}
}
