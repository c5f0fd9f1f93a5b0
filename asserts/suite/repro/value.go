package repro

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/schema"
)

// A pythonCall is a Python program under construction.
type pythonCall struct {
	program
	args    []string    // of the op, as written in the call
	earlier *pythonCall // made before it, if that is another call
}

func readCase(op *schema.Op, recipe string) (*sample.Case, error) {
	var given map[string]string
	if err := yaml.Unmarshal([]byte(recipe), &given); err != nil {
		return nil, err
	}
	c := &sample.Case{Op: op.Namespace + "::" + op.Func.Name.String()}
	sizes := sample.NewSymbols(0)
	for i, arg := range op.Func.Args {
		name := cmp.Or(arg.Name, sample.Positional(i))
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

func newCall(op *schema.Op, recipe string) (*pythonCall, error) {
	c, err := readCase(op, recipe)
	if err != nil {
		return nil, err
	}
	k := &pythonCall{program: program{dialect: &python, op: op}}
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
			text = keyword(arg.Name, text)
		}
		k.args = append(k.args, text)
	}
	return k, nil
}

func keyword(name, value string) string {
	if keywords[name] {
		return fmt.Sprintf("**{%q: %s}", name, value)
	}
	return name + "=" + value
}

func (k *pythonCall) place(p asserts.Place) (x string, err error) {
	x = "result"
	switch {
	case !p.Return:
		x, err = k.argument(p)
	case len(k.op.Func.Returns) > 1:
		x += "[" + strconv.Itoa(p.Index) + "]"
	}
	if err != nil || p.Called == "" {
		return x + elementOf(p), err
	}
	if element, _, ok := strings.Cut(p.Called, "."); ok {
		x += "[" + element + "]"
	}
	return fmt.Sprintf("part(%s, %q)", x, p.Part()), nil
}

func elementOf(p asserts.Place) string {
	if p.Element == asserts.NoElement {
		return ""
	}
	return "[" + strconv.Itoa(p.Element) + "]"
}

// ofSparse replaces functions for strided tensors by those for sparse ones.
var ofSparse = strings.NewReplacer("memory(", "contents(", "look(", "outline(")

// shares returns the predicate of a result that the previous call also returned.
func (k *pythonCall) shares(v *asserts.Violation) (*predicate, error) {
	x, err := k.place(v.Subject)
	if err != nil {
		return nil, err
	}
	with := strings.NewReplacer("{x}", x, "{y}", strings.Replace(x, "result", "earlier", 1))
	fault := with.Replace(rules()["OA007"].In["Python"].Fault)
	return &predicate{true, condition{Fault: fault}, v.Subject.String() +
		" shares memory with what the previous call returned"}, nil
}

func (k *pythonCall) variables(of func(schema.Argument) bool) string {
	var names []string
	for i, arg := range k.op.Func.Args {
		if k.names[i] != "" && of(arg) {
			names = append(names, k.names[i])
		}
	}
	return strings.Join(names, ", ")
}

// shows returns the predicate of a finding, about its own tensors.
func (k *pythonCall) shows(f *report.Finding) (*predicate, error) {
	if f.Violation.Symptom == asserts.ReturnedBefore {
		return k.shares(f.Violation)
	}
	read := k.variables(func(arg schema.Argument) bool {
		return arg.Type.HoldsTensors() && (arg.Alias == nil || !arg.Alias.Write)
	})
	sparse := false
	p, err := python.predicate(f.Violation, k.place, func(x, _ string) []string {
		sparse = slices.ContainsFunc(k.lines,
			func(l string) bool { return strings.HasPrefix(l, x+" = ") && strings.Contains(l, "sparse") })
		return []string{"{read}", read}
	})
	if sparse && err == nil {
		p.Fault = ofSparse.Replace(p.Fault)
		for i := range p.Before {
			p.Before[i] = ofSparse.Replace(p.Before[i])
		}
	}
	return p, err
}

func twin(f *report.Finding) engine.Device {
	if f.Violation.Code != asserts.MetaAlias || len(f.Devices) < 2 {
		return ""
	}
	return f.Devices[1]
}
