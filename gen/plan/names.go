package plan

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/opassert/opassert/schema"
)

// A NameSet is the identifiers that a generated function already uses.
type NameSet map[string]bool

// NewNameSet makes a set of the names that the function's text refers to.
func NewNameSet(taken ...string) NameSet {
	names := NameSet{}
	for _, name := range taken {
		names[name] = true
	}
	return names
}

// Pick returns the wanted name, or the other one if that is empty or blank, with as many underscores appended as make
// it a new identifier. A name that does not become an identifier, such as 2, gets an x in front.
func (names NameSet) Pick(want, other string) string {
	if want == "" || want == "_" {
		want = strings.TrimLeft(other, "_")
	}
	if !token.IsIdentifier(want) && !token.IsKeyword(want) {
		want = "x" + want
	}
	for names[want] || !token.IsIdentifier(want) { // a keyword is not an identifier
		want += "_"
	}
	names[want] = true
	return want
}

// LocalName is the name of a return inside a generated function.
func LocalName(op *schema.Op, i int) string {
	switch name := op.Func.Returns[i].Name; {
	case name != "":
		return name
	case len(op.Func.Returns) == 1:
		return "result"
	default:
		return fmt.Sprintf("result%d", i)
	}
}
