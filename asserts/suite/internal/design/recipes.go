package design

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/internal/yamlfile"
	"github.com/opassert/opassert/schema"
	"gopkg.in/yaml.v3"
)

//go:embed recipes.yaml
var recipeText []byte

// A Recipe lists arguments for ops whose arguments must fit each other in ways that no schema or error tells.
type Recipe struct {
	node     *yaml.Node
	Ops      []*yaml.Node // patterns in the form of path.Match, for names with or without overload
	optional bool         // a version of the library may lack the ops, or arguments
	args     map[string]*yaml.Node
	names    []*yaml.Node    // of the arguments, in order
	symbols  map[string]bool // names of sizes
	file     *yamlfile.File
}

// Recipes are the recipes of a file, in order.
type Recipes []*Recipe

var Shipped = sync.OnceValues(func() (*Recipes, error) { return ParseRecipes("recipes.yaml", recipeText) })

// ParseRecipes reads a file of recipes. The error is a [scanner.ErrorList] with every fault of the text.
func ParseRecipes(name string, text []byte) (*Recipes, error) {
	r := recipeReader{yamlfile.New(name, text)}
	var book Recipes
	if doc := r.Document("expected a list of recipes, - ops: ..."); doc != nil && doc.Kind != yaml.SequenceNode {
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

// recipes parses one entry: patterns of ops, and a recipe for each case.
func (r *recipeReader) recipes(n *yaml.Node) []*Recipe {
	values, ok := r.Mapping(n, "a recipe", []string{"ops", "cases", "optional"})
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
	optional, isBool := false, true
	if values[2] != nil {
		optional, isBool = yamlfile.Bool(values[2])
	}
	if !isBool {
		r.ReportKind(values[2], "true or false")
	}
	var list []*Recipe
	for _, c := range r.list(n, values[1], "cases", "mappings of arguments to values") {
		if one := r.args(c); one != nil {
			one.Ops, one.optional, one.file = ops, optional, r.File
			list = append(list, one)
		}
	}
	return list
}

// list returns the items of a key's value, which is required.
func (r *recipeReader) list(entry, n *yaml.Node, key, of string) []*yaml.Node {
	switch {
	case n == nil:
		r.Report(entry, "%s is missing: a recipe has ops and cases", key)
		return nil
	case n.Kind != yaml.SequenceNode:
		r.ReportKind(n, key+": a list of "+of)
		return nil
	case len(n.Content) == 0:
		r.Report(n, "%s is empty: want a list of %s", key, of)
	}
	return n.Content
}

func (r *recipeReader) args(n *yaml.Node) *Recipe {
	if n.Kind != yaml.MappingNode {
		r.ReportKind(n, "arguments with their values")
		return nil
	}
	one := &Recipe{node: n, args: make(map[string]*yaml.Node)}
	sizes := sample.NewSymbols(0)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, text := n.Content[i], n.Content[i+1]
		switch {
		case text.Kind == yaml.SequenceNode || text.Kind == yaml.MappingNode:
			r.Report(text, "%s: put the value in quotes: %s: %q", name.Value, name.Value, asText(text))
			continue
		case text.Kind != yaml.ScalarNode:
			r.ReportKind(text, "a value")
			continue
		}
		if one.args[name.Value] != nil {
			r.Report(name, "the argument %s is given twice", name.Value)
		}
		one.args[name.Value] = text
		one.names = append(one.names, name)
		sample.ParseValue(text.Value, &sample.SymbolTable{Of: sizes.Of, Sizes: sizes.Sizes, Any: true})
	}
	one.symbols = sizes.Sizes
	for _, name := range one.names {
		text := one.args[name.Value]
		for round := range sample.SymbolSizes { // the values of symbols differ from case to case
			sizes := sample.NewSymbols(round)
			sizes.Sizes = one.symbols
			if at, err := one.fault(text, sizes); err != nil {
				r.ReportAt(r.Inside(text)(at), "%s: %v", name.Value, err)
				break
			}
			if len(sizes.Of) == 0 { //mutate:equivalent false: only saves time
				break
			}
		}
	}
	return one
}

// fault parses a value. It returns the position of an error in its text.
func (one *Recipe) fault(text *yaml.Node, sizes *sample.SymbolTable) (at int, err error) {
	v, err := sample.ParseValue(text.Value, sizes)
	if fault, ok := errors.AsType[*sample.ValueError](err); ok {
		at = fault.At
	}
	for _, ref := range v.References(nil) {
		if other := one.args[sample.ArgumentOf(ref)]; other != nil && sample.Reference.MatchString(other.Value) {
			return at, fmt.Errorf("%s, which refers to another argument itself: refer to that one", ref)
		}
	}
	return at, err
}

// asText returns YAML as the text of a value.
func asText(n *yaml.Node) string {
	var words []string
	for i, e := range n.Content {
		text := asText(e)
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			text = "'" + text + "': " + asText(n.Content[i+1])
		} else if n.Kind == yaml.MappingNode {
			continue
		}
		words = append(words, text)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		return "[" + strings.Join(words, ", ") + "]"
	case yaml.MappingNode:
		return "{" + strings.Join(words, ", ") + "}"
	}
	return n.Value
}

// of returns the recipes for an op; a pattern may have the namespace or not.
func (b *Recipes) of(namespace string, name schema.Name) []*Recipe {
	base := name
	base.Overload = ""
	names := []string{name.String(), base.String(), namespace + "::" + name.String(), namespace + "::" + base.String()}
	matches := func(pattern *yaml.Node) bool {
		return slices.ContainsFunc(names, func(n string) bool { ok, _ := path.Match(pattern.Value, n); return ok })
	}
	return slices.DeleteFunc(slices.Clone(*b), func(r *Recipe) bool { return !slices.ContainsFunc(r.Ops, matches) })
}

// For reports whether there are recipes for an op.
func (b *Recipes) For(op *schema.Op) bool { return len(b.of(op.Namespace, op.Func.Name)) > 0 }

// At returns the position of the recipe from which case number n of an op is made, if it is from one.
func (b *Recipes) At(op *schema.Op, n int) (token.Position, bool) {
	all := b.of(op.Namespace, op.Func.Name)
	if n >= len(all) {
		return token.Position{}, false
	}
	return all[n].file.Pos(all[n].node), true
}

// Unfit returns the reason why a case c of the recipe did not run as written, or "": ran is the
// case as it ran, nil if it did not. Values that the recipe leaves open may differ.
func (r *Recipe) Unfit(c, ran *sample.Case, err error) string {
	if ran == nil {
		return "this case never ran: " + sample.Clip(err.Error())
	}
	var changed []string
	for i, v := range ran.Args {
		if (r.args[c.Names[i]] != nil || r.args[sample.Positional(i)] != nil) && v.String() != c.Args[i].String() {
			changed = append(changed, cmp.Or(c.Names[i], sample.Positional(i)))
		}
	}
	if len(changed) == 0 {
		return ""
	}
	return "this case ran with another " + strings.Join(changed, ", ") + " alone: " + sample.Clip(err.Error())
}

// A caseRecipe is a recipe for one case, with sizes for its symbols.
type caseRecipe struct {
	*Recipe
	sizes *sample.SymbolTable
}

// argument returns the recipe's value, with the theme's choices for what it leaves open.
func (r *caseRecipe) argument(name string, i int, th *theme, number int) (sample.Value, bool) {
	text := cmp.Or(r.args[name], r.args[sample.Positional(i)])
	if text == nil {
		return sample.Value{}, false
	}
	maps.Copy(r.sizes.Sizes, r.symbols)
	v, _ := sample.ParseValue(text.Value, r.sizes) // it was parsed before
	for _, t := range v.AppendTensors(nil) {
		if t.DType != sample.ThemeDType {
			continue
		}
		t.DType = th.dtype
		if c := sample.Element(th.dtype).Class(); c != tensor.Floating && c != tensor.Complex && number%2 == 0 {
			t.DType = "float32"
		}
		if t.Arrangement == tensor.Contiguous {
			t.Arrangement = th.arrangement
		}
		if t.Form == engine.Strided {
			t.Form = th.form
		}
		t.Legal()
	}
	return v, true
}
