package suite

import (
	_ "embed"
	"fmt"
	"path"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/schema"
)

//go:embed recipes.yaml
var recipeText []byte

// A recipe gives arguments to ops whose arguments must fit each other in ways
// that neither the schema nor an error tells.
type recipe struct {
	ops  []string // patterns, as path.Match has them, of names with or without overload
	args map[string]Value
}

// A recipeBook is all recipes, in order.
type recipeBook []*recipe

var shipped = sync.OnceValues(func() (*recipeBook, error) { return parseRecipes(recipeText) })

// parseRecipes reads recipes.yaml.
func parseRecipes(text []byte) (*recipeBook, error) {
	var entries []struct {
		Ops   []string
		Cases []map[string]string
	}
	if err := yaml.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("recipes: %w", err)
	}
	var book recipeBook
	for _, e := range entries {
		for _, args := range e.Cases {
			r := &recipe{ops: e.Ops, args: make(map[string]Value)}
			for name, text := range args {
				v, err := parseValue(text)
				if err != nil {
					return nil, fmt.Errorf("recipes: %v, %s: %w", e.Ops, name, err)
				}
				r.args[name] = v
			}
			book = append(book, r)
		}
	}
	return &book, nil
}

// of gives the recipes for an op.
func (b *recipeBook) of(name schema.Name) []*recipe {
	base := name
	base.Overload = ""
	var found []*recipe
	for _, r := range *b {
		for _, pattern := range r.ops {
			whole, _ := path.Match(pattern, name.String())
			short, _ := path.Match(pattern, base.String())
			if whole || short {
				found = append(found, r)
				break
			}
		}
	}
	return found
}

// argument gives the recipe's value, its free tensors after the theme.
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
