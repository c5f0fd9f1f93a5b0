package repro

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/schema"
)

// A call is a case in Python.
type call struct {
	op      *schema.Op
	setup   []string        // statements that make the arguments
	args    []string        // of the op, as they are written in the call
	tensors []string        // an expression for each tensor of the case, in order
	names   []string        // a variable for each argument, "" where it is written in the call
	sparse  map[string]bool // by variable: such a tensor has no storage
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
	k := &call{op: op, sparse: make(map[string]bool)}
	positional := true
	for i, arg := range op.Func.Args {
		v := &c.Args[i]
		if v.Kind == sample.DefaultValue {
			positional, k.names = false, append(k.names, "")
			continue
		}
		text, err := k.value(v, variable(c.Names[i]))
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", c.Names[i], err)
		}
		name := ""
		if arg.Type.HoldsTensors() || v.Kind > sample.ListValue && v.Kind != sample.SameValue {
			name = variable(c.Names[i])
			if text != name {
				k.setup = append(k.setup, name+" = "+text)
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

// value returns an expression for a value; the tensors in it have variables.
func (k *call) value(v *sample.Value, name string) (string, error) {
	switch v.Kind {
	case sample.NoneValue:
		return "None", nil
	case sample.TensorValue:
		return k.tensor(v.Tensor, name)
	case sample.IntValue:
		return strconv.FormatInt(v.Int, 10), nil
	case sample.FloatValue:
		return float(v.Float, 64), nil
	case sample.BoolValue:
		return boolean(v.Int != 0), nil
	case sample.ComplexValue:
		return fmt.Sprintf("complex(%s, %s)", float(real(v.Complex), 64), float(imag(v.Complex), 64)), nil
	case sample.TextValue:
		return strconv.QuoteToASCII(v.Text), nil
	case sample.DTypeValue, sample.LayoutValue, sample.FormatValue, sample.QSchemeValue:
		return "torch." + v.Text, nil
	case sample.DeviceValue:
		return "torch.device(" + strconv.Quote(v.Text) + ")", nil
	case sample.GeneratorValue:
		return fmt.Sprintf("torch.Generator().manual_seed(%d)", v.Int), nil
	case sample.StorageValue:
		text, err := tensorOf(v.Tensor, 0)
		return text + ".untyped_storage()", err
	case sample.SameValue:
		return k.names[v.Int], nil
	}
	return k.holder(v, name)
}

// holder returns an expression for a list, a tuple or a dict.
func (k *call) holder(v *sample.Value, name string) (string, error) {
	words := make([]string, len(v.List))
	for i := range v.List {
		var err error
		if words[i], err = k.value(&v.List[i], fmt.Sprintf("%s_%d", name, i)); err != nil {
			return "", err
		}
	}
	all := strings.Join(words, ", ")
	switch v.Kind {
	case sample.TupleValue:
		return "(" + all + ",)", nil
	case sample.DictValue:
		var pairs []string
		for i := 0; i+1 < len(words); i += 2 {
			pairs = append(pairs, words[i]+": "+words[i+1])
		}
		return "{" + strings.Join(pairs, ", ") + "}", nil
	case sample.NewValue:
		return "torch.classes." + strings.TrimPrefix(v.Text, sample.CustomClasses) + "(" + all + ")", nil
	case sample.CallValue:
		return opOf(v.Text) + "(" + all + ")", nil
	case sample.AfterValue:
		k.setup = append(k.setup, fmt.Sprintf("%s_first = %s", name, words[0]))
		words[0] = name + "_first"
		k.setup = append(k.setup, opOf(v.Text)+"("+strings.Join(words, ", ")+")")
		return words[0], nil
	}
	return "[" + all + "]", nil
}

// tensor makes a tensor in a statement of its own, and returns its variable.
func (k *call) tensor(t *sample.TensorSpec, name string) (string, error) {
	if t.Same > 0 && t.Same <= len(k.tensors) {
		k.tensors = append(k.tensors, k.tensors[t.Same-1])
		return k.tensors[t.Same-1], nil
	}
	text := ""
	if t.View > 0 && t.View <= len(k.tensors) {
		text = fmt.Sprintf("%[1]s.view_as(%[1]s)", k.tensors[t.View-1])
	} else {
		var err error
		if text, err = tensorOf(t, len(k.tensors)); err != nil {
			return "", err
		}
	}
	k.setup = append(k.setup, name+" = "+text)
	k.tensors = append(k.tensors, name)
	k.sparse[name] = strings.Contains(text, "sparse")
	return name, nil
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
