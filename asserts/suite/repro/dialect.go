package repro

import (
	"fmt"
	"strings"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/schema"
)

// A dialect is how a language writes rules. In its texts {x} and {y} are tensors.
type dialect struct {
	language string
	noted    string            // a statement that notes the {fact} that is {of} a tensor
	was      string            // what was noted of a {fact}
	release  string            // a statement that lets go of what the call returned, or ""
	joints   map[string]string // "and" and "or"
	facts    map[string]fact
	words    map[string]word

	literals
	declared string // a statement that declares a variable, of an expression
	end      string // of a statement
	item     string // a variable for an item of a list in another, by its index
	called   func(op string, args []string) string
	holds    func(v *sample.Value, argument int, items []string) string // an expression for what holds others, or ""
}

// A program is a call in the making.
type program struct {
	*dialect
	op      *schema.Op
	lines   []string // statements
	names   []string // a variable for each argument, "" where it is written in the call
	tensors []string // one for each tensor of the case
}

func (p *program) line(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

// value returns an expression for a value of an argument; name is the variable of a tensor.
func (p *program) value(v *sample.Value, argument int, name string) (string, error) {
	switch {
	case v.Kind == sample.TensorValue:
		return p.variable(v.Tensor, name, p.tensor)
	case v.Kind == sample.SameValue && p.names[v.Int] != "":
		return p.names[v.Int], nil
	case v.Kind < sample.ListValue || v.Kind == sample.SameValue:
		return p.scalar(v)
	}
	items := make([]string, len(v.List))
	for i := range v.List {
		var err error
		if items[i], err = p.value(&v.List[i], argument, fmt.Sprintf(p.item, name, i)); err != nil {
			return "", err
		}
	}
	switch v.Kind {
	case sample.CallValue:
		return p.called(v.Text, items), nil
	case sample.AfterValue:
		first := fmt.Sprintf(strings.ReplaceAll(p.item, "%d", "%s"), name, "first")
		p.line(p.declared, first, items[0])
		items[0] = first
		p.line("%s", p.called(v.Text, items)+p.end)
		return first, nil
	}
	if text := p.holds(v, argument, items); text != "" {
		return text, nil
	}
	return p.scalar(v)
}

// variable declares a tensor that an expression makes, and returns its variable.
func (p *program) variable(t *sample.TensorSpec, name string, makes func(t *sample.TensorSpec, turn int) (string, error)) (string, error) {
	text := ""
	var err error
	switch {
	case t.Same > 0 && t.Same <= len(p.tensors):
		name = p.tensors[t.Same-1]
	case t.View > 0 && t.View <= len(p.tensors) && p.namespace != "":
		text = fmt.Sprintf("%[1]s.view_as(%[1]s)", p.tensors[t.View-1])
	default:
		text, err = makes(t, len(p.tensors))
	}
	if text != "" {
		p.line(p.declared, name, text)
	}
	p.tensors = append(p.tensors, name)
	return name, err
}
