package sample

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

// Recipe returns the given arguments as a case of a file of cases.
func (c *Case) Recipe() string {
	var names []string // of the tensors
	for i := range c.Args {
		name := cmp.Or(c.Names[i], Positional(i))
		for k := range c.Args[i].AppendTensors(nil) {
			if c.Args[i].Kind == TensorValue {
				names = append(names, name)
			} else {
				names = append(names, fmt.Sprintf("%s[%d]", name, k))
			}
		}
	}
	c = c.Clone()
	var words []string
	before := 0
	for i := range c.Args {
		before = c.Args[i].name(names, before)
		if text := c.Args[i].Recipe(); c.Args[i].Kind != DefaultValue {
			words = append(words, cmp.Or(c.Names[i], Positional(i))+": "+strconv.Quote(text))
		}
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// Key returns a text that is equal for two cases only if they make the same call.
func (c *Case) Key() string { return slicesx.Join(c.Args, ", ", Value.Recipe) }

// name replaces tensors that are the same as an earlier one, or views of it, by references to its name, and returns the
// number of tensors so far. Tensors that refer to a removed one are made like others.
func (v *Value) name(names []string, before int) int {
	for i := range v.List {
		before = v.List[i].name(names, before)
	}
	if v.Kind != TensorValue {
		return before
	}
	switch t := v.Tensor; {
	case t.Same > 0 && t.Same <= before:
		*v = Value{Kind: SameValue, Text: "same:" + names[t.Same-1]}
	case t.View > 0 && t.View <= before:
		*v = Value{Kind: SameValue, Text: "view:" + names[t.View-1]}
	default:
		t.Same, t.View = 0, 0
	}
	return before + 1
}

// Positional is the name of an argument by its position, even if the schema has another.
func Positional(i int) string { return "_" + strconv.Itoa(i) }
