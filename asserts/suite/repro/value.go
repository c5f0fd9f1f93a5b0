package repro

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/schema"
)

// A call is a program in Python.
type call struct {
	program
	args []string // of the op, as they are written in the call
}

// keywords of Python that schemas use as names.
var keywords = map[string]bool{"from": true, "lambda": true, "in": true, "is": true, "and": true, "or": true, "not": true, "def": true, "class": true, "pass": true, "global": true, "torch": true}

// variable returns the name of an argument in Python, which no other line of a program
// uses for something else.
func variable(name string) string {
	if keywords[name] || slices.Contains(words, name) || strings.HasSuffix(name, "_before") || slices.ContainsFunc(definitions, func(d definition) bool { return d.name == name }) {
		return name + "_"
	}
	return name
}

// words are the names that programs use besides those of their definitions.
var words = []string{
	"args", "base64", "bytearray", "byte", "bytes", "call", "child", "complex", "contextlib", "ctypes", "dict", "e", "fresh", "getattr", "held", "id", "inf", "int",
	"isinstance", "kwargs", "len", "list", "max", "min", "mode", "nan", "os", "plan", "print", "range", "resource", "result", "rooms", "seen", "set", "signal", "status",
	"fill", "strays", "sys", "tuple", "twin", "twins", "type", "walls", "zip", "any", "sum", "bool", "asked", "others", "sizes",
}

// readCase reads a case of a file of cases, as findings have it.
func readCase(op *schema.Op, recipe string) (*sample.Case, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(recipe), &doc); err != nil {
		return nil, err
	}
	given := make(map[string]string)
	for i := 0; len(doc.Content) > 0 && i+1 < len(doc.Content[0].Content); i += 2 {
		given[doc.Content[0].Content[i].Value] = doc.Content[0].Content[i+1].Value
	}
	c := &sample.Case{Op: op.Namespace + "::" + op.Func.Name.String()}
	sizes := sample.NewSymbols(0)
	for i, arg := range op.Func.Args {
		name := arg.Name
		if name == "" {
			name = sample.Positional(i)
		}
		var v sample.Value
		if text, ok := given[name]; ok {
			var err error
			if v, err = sample.ParseValue(text, sizes); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		c.Names, c.Args = append(c.Names, name), append(c.Args, v)
	}
	c.Refer()
	return c, nil
}

// newCall returns the call of a case.
func newCall(op *schema.Op, recipe string) (*call, error) {
	c, err := readCase(op, recipe)
	if err != nil {
		return nil, err
	}
	k := &call{program: program{dialect: &python, op: op}}
	positional := true
	for i, arg := range op.Func.Args {
		v := &c.Args[i]
		if v.Kind == sample.DefaultValue {
			positional, k.names = false, append(k.names, "")
			continue
		}
		text, err := k.value(v, i, variable(c.Names[i]))
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", c.Names[i], err)
		}
		name := ""
		if arg.Type.HoldsTensors() || v.Kind > sample.ListValue && v.Kind != sample.SameValue {
			name = variable(c.Names[i])
			if text != name {
				k.line(k.declared, name, text)
			}
			text = name
		}
		k.names = append(k.names, name)
		if !positional || arg.KwargOnly {
			text = named(arg.Name, text)
		}
		k.args = append(k.args, text)
	}
	return k, nil
}

// named returns an argument that is passed by its name.
func named(name, value string) string {
	if keywords[name] {
		return fmt.Sprintf("**{%q: %s}", name, value)
	}
	return name + "=" + value
}

// holds returns an expression of Python for a list, a tuple, a dict or an object.
func holds(v *sample.Value, _ int, items []string) string {
	all := strings.Join(items, ", ")
	switch v.Kind {
	case sample.TupleValue:
		return "(" + all + ",)"
	case sample.DictValue:
		var pairs []string
		for pair := range slices.Chunk(items, 2) {
			pairs = append(pairs, strings.Join(pair, ": "))
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	case sample.NewValue:
		return "torch.classes." + strings.TrimPrefix(v.Text, sample.CustomClasses) + "(" + all + ")"
	}
	return "[" + all + "]"
}

// opOf returns the expression for an op: torch.ops.aten.add.Tensor.
func opOf(name string) string {
	namespace, rest, _ := strings.Cut(name, "::")
	base, overload, ok := strings.Cut(rest, ".")
	if !ok {
		overload = "default"
	}
	return attribute(attribute("torch.ops."+namespace, base), overload)
}

// attribute returns the attribute of an expression, also one whose name Python
// reserves.
func attribute(of, name string) string {
	if keywords[name] && name != "torch" {
		return fmt.Sprintf("getattr(%s, %q)", of, name)
	}
	return of + "." + name
}
