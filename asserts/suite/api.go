package suite

import (
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/work"
)

// Recipes are cases that a user wrote down, in the order of their file.
type Recipes = design.Recipes

// ParseRecipes reads a file of cases. The error is a [scanner.ErrorList] with
// every fault of the text.
func ParseRecipes(name string, text []byte) (*Recipes, error) { return design.ParseRecipes(name, text) }

// AllCases, as the end of a run, is as many cases as an op's design has.
const AllCases = work.AllCases
