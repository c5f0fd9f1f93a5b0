package suite

import (
	_ "embed"
	"path"
	"slices"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/schema"
	"github.com/opassert/opassert/schema/yamlfile"
)

//go:embed recipes.yaml
var recipeText []byte

// A recipe gives arguments to ops whose arguments must fit each other in ways
// that neither the schema nor an error tells.
type recipe struct {
	ops  []string // patterns, as path.Match has them, of names with or without overload
	args map[string]Value
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
	var ops []string
	for _, pattern := range r.list(n, values[0], "ops", "names of ops") {
		if _, err := path.Match(pattern.Value, ""); pattern.Kind != yaml.ScalarNode || err != nil {
			r.ReportKind(pattern, "the name of an op, or a pattern")
		}
		ops = append(ops, pattern.Value)
	}
	var list []*recipe
	for _, c := range r.list(n, values[1], "cases", "mappings of arguments to values") {
		if args, ok := r.args(c); ok {
			list = append(list, &recipe{ops, args})
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

func (r *recipeReader) args(n *yaml.Node) (map[string]Value, bool) {
	if n.Kind != yaml.MappingNode {
		r.ReportKind(n, "arguments with their values")
		return nil, false
	}
	args := make(map[string]Value)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, text := n.Content[i], n.Content[i+1]
		if text.Kind != yaml.ScalarNode {
			r.ReportKind(text, "a value")
			continue
		}
		if _, twice := args[name.Value]; twice {
			r.Report(name, "the argument %s is given twice", name.Value)
		}
		v, err := parseValue(text.Value)
		if err != nil {
			r.Report(text, "%s: %v", name.Value, err)
		}
		args[name.Value] = v
	}
	return args, true
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
			if slices.ContainsFunc(names, func(n string) bool { ok, _ := path.Match(pattern, n); return ok }) {
				found = append(found, r)
				break
			}
		}
	}
	return found
}

// argument returns the recipe's value, its free tensors after the theme.
func (r *recipe) argument(name string, th *theme, number int) (Value, bool) {
	v, ok := r.args[name]
	if !ok {
		return Value{}, false
	}
	v = v.clone()
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
