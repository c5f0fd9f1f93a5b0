package suite

import (
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/work"
)

// Recipes are cases from a user's file, in its order.
type Recipes = design.Recipes

// ParseRecipes reads a file of cases. The error is a [scanner.ErrorList] with every fault of the text.
func ParseRecipes(name string, text []byte) (*Recipes, error) { return design.ParseRecipes(name, text) }

// The ends of a run over all cases of an op's design, and over those that nearly suffice for an op of one's own.
const (
	AllCases   = work.AllCases
	UsualCases = work.UsualCases
)
