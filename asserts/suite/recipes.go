package suite

import (
	"cmp"
	_ "embed"
	"errors"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/schema"
	"github.com/opassert/opassert/schema/yamlfile"
)

//go:embed recipes.yaml
var recipeText []byte

// A recipe says what arguments ops take whose arguments must fit each other in ways
// that neither the schema nor an error tells.
type recipe struct {
	ops     []*yaml.Node // patterns, as path.Match has them, of names with or without overload
	args    map[string]*yaml.Node
	names   []*yaml.Node    // of the arguments, in order
	symbols map[string]bool // names of sizes
	file    *yamlfile.File
}

// Recipes are what ops take, in order.
type Recipes []*recipe

var shipped = sync.OnceValues(func() (*Recipes, error) { return ParseRecipes("recipes.yaml", recipeText) })

// ParseRecipes reads a file of recipes. The error is a [scanner.ErrorList] with
// every fault of the text.
func ParseRecipes(name string, text []byte) (*Recipes, error) {
	r := recipeReader{yamlfile.New(name, text)}
	var book Recipes
	doc := r.Document("expected a list of recipes, - ops: ...")
	if doc != nil && doc.Kind != yaml.SequenceNode {
		r.ReportKind(doc, "a list of recipes, - ops: ...")
	} else if doc != nil {
		for _, n := range doc.Content {
			book = append(book, r.recipes(n)...)
		}
	}
	if len(r.Errs) > 0 {
		r.Errs.Sort()
		return nil, r.Errs
	}
	return &book, nil
}

type recipeReader struct{ *yamlfile.File }

// recipes reads one entry: patterns of ops, and a recipe a case.
func (r *recipeReader) recipes(n *yaml.Node) []*recipe {
	values, ok := r.Mapping(n, "a recipe", []string{"ops", "cases"})
	if !ok {
		return nil
	}
	var ops []*yaml.Node
	for _, pattern := range r.list(n, values[0], "ops", "names of ops") {
		if _, err := path.Match(pattern.Value, ""); pattern.Kind != yaml.ScalarNode || err != nil {
			r.ReportKind(pattern, "the name of an op, or a pattern")
		}
		ops = append(ops, pattern)
	}
	var list []*recipe
	for _, c := range r.list(n, values[1], "cases", "mappings of arguments to values") {
		if one := r.args(c); one != nil {
			one.ops, one.file = ops, r.File
			list = append(list, one)
		}
	}
	return list
}

// list returns the items of a key's value, which must be there.
func (r *recipeReader) list(entry, n *yaml.Node, key, of string) []*yaml.Node {
	switch {
	case n == nil:
		r.Report(entry, "%s is missing: a recipe says ops and cases", key)
		return nil
	case n.Kind != yaml.SequenceNode:
		r.ReportKind(n, key+": a list of "+of)
		return nil
	}
	return n.Content
}

func (r *recipeReader) args(n *yaml.Node) *recipe {
	if n.Kind != yaml.MappingNode {
		r.ReportKind(n, "arguments with their values")
		return nil
	}
	one := &recipe{args: make(map[string]*yaml.Node)}
	sizes := newSymbols(0)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, text := n.Content[i], n.Content[i+1]
		if text.Kind != yaml.ScalarNode {
			r.ReportKind(text, "a value")
			continue
		}
		if one.args[name.Value] != nil {
			r.Report(name, "the argument %s is given twice", name.Value)
		}
		one.args[name.Value] = text
		one.names = append(one.names, name)
		parseValue(text.Value, sizes) // for its symbols, which others may use
	}
	one.symbols = sizes.sizes
	for _, name := range one.names {
		text := one.args[name.Value]
		if _, err := parseValue(text.Value, sizes); err != nil {
			at := 0
			var fault *valueError
			if errors.As(err, &fault) {
				at = fault.at
			}
			r.ReportAt(r.Inside(text)(at), "%s: %v", name.Value, err)
		}
	}
	return one
}

// of returns the recipes for an op, whose name a pattern may give with its
// namespace or without.
func (b *Recipes) of(namespace string, name schema.Name) []*recipe {
	base := name
	base.Overload = ""
	names := []string{name.String(), base.String(), namespace + "::" + name.String(), namespace + "::" + base.String()}
	var found []*recipe
	for _, r := range *b {
		for _, pattern := range r.ops {
			if slices.ContainsFunc(names, func(n string) bool { ok, _ := path.Match(pattern.Value, n); return ok }) {
				found = append(found, r)
				break
			}
		}
	}
	return found
}

// For reports whether there are recipes for an op.
func (b *Recipes) For(op *schema.Op) bool { return len(b.of(op.Namespace, op.Func.Name)) > 0 }

// positional is the name of an argument by its position, which it also has
// where the schema does not name it.
func positional(i int) string { return "_" + strconv.Itoa(i) }

// Check reports the names of ops that there are not, and of arguments that none
// of a case's ops has; a pattern may match nothing. The error is a
// [scanner.ErrorList].
func (b *Recipes) Check(ops []*schema.Op) error {
	told := make(map[*yaml.Node]bool)
	for _, r := range *b {
		args, known := make(map[string]bool), false
		for _, pattern := range r.ops {
			one, matched := &Recipes{{ops: []*yaml.Node{pattern}}}, false
			for _, op := range ops {
				if !one.For(op) {
					continue
				}
				matched = true
				for i, a := range op.Func.Args {
					args[a.Name], args[positional(i)] = true, true
				}
			}
			known = known || matched
			if !matched && !told[pattern] && !strings.ContainsAny(pattern.Value, "*?[") {
				told[pattern] = true
				r.file.Report(pattern, "no op %s%s", pattern.Value, yamlfile.Suggest(pattern.Value, namesOf(ops)))
			}
		}
		for _, name := range r.names {
			if known && !args[name.Value] {
				r.file.Report(name, "no op of these has an argument %s%s", name.Value, yamlfile.Suggest(name.Value, slices.Sorted(maps.Keys(args))))
			}
		}
	}
	if len(*b) == 0 || len((*b)[0].file.Errs) == 0 {
		return nil
	}
	errs := (*b)[0].file.Errs
	errs.Sort()
	return errs
}

func namesOf(ops []*schema.Op) []string {
	var names []string
	for _, op := range ops {
		names = append(names, op.Namespace+"::"+op.Func.Name.String())
	}
	return names
}

// A caseRecipe is a recipe for one case, in which symbols have their sizes.
type caseRecipe struct {
	*recipe
	sizes *symbolTable
}

// argument returns the recipe's value, its free tensors after the theme.
func (r *caseRecipe) argument(name string, i int, th *theme, number int) (Value, bool) {
	text := cmp.Or(r.args[name], r.args[positional(i)])
	if text == nil {
		return Value{}, false
	}
	maps.Copy(r.sizes.sizes, r.symbols)
	v, _ := parseValue(text.Value, r.sizes) // it was read once
	for _, t := range v.appendTensors(nil) {
		if t.DType != themeDType {
			continue
		}
		t.DType = th.dtype
		if c := dtypes[th.dtype].class; c != floating && c != complexed && number%2 == 0 {
			t.DType = "float32"
		}
		if t.Arrangement == Contiguous {
			t.Arrangement = th.arrangement
		}
		if t.Form == Strided {
			t.Form = th.form
		}
		t.legal()
	}
	return v, true
}
