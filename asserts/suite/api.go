package suite

import (
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/work"
)

// Recipes are cases from a user's file, in its order.
type Recipes = design.Recipes

// ParseRecipes reads a file of cases. The error is a [scanner.ErrorList] with
// every fault of the text.
func ParseRecipes(name string, text []byte) (*Recipes, error) { return design.ParseRecipes(name, text) }

// AllCases, as the end of a run, stands for all cases of an op's design.
const AllCases = work.AllCases
