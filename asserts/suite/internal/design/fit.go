package design

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/internal/yamlfile"
	"github.com/opassert/opassert/schema"
	"gopkg.in/yaml.v3"
)

// Check checks recipes against existing ops: names of ops, and of arguments that none of a case's
// ops has, patterns of a recipe of which none matches, each unless it is optional, and values that an
// argument's type does not accept. The error is a [scanner.ErrorList].
func (b *Recipes) Check(ops []*schema.Op) error {
	f := fitter{byName: make(map[string]*schema.Op)}
	for _, op := range ops {
		f.byName[op.Namespace+"::"+op.Func.Name.String()] = op
	}
	f.names = slices.Sorted(maps.Keys(f.byName))
	reported := make(map[*yaml.Node]bool)
	for _, r := range *b {
		var matched []*schema.Op
		for _, pattern := range r.Ops {
			one := &Recipes{{Ops: []*yaml.Node{pattern}}}
			meant := slices.DeleteFunc(slices.Clone(ops), func(op *schema.Op) bool { return !one.For(op) })
			matched = append(matched, meant...)
			if len(meant) == 0 && !r.optional && !reported[pattern] &&
				(len(r.Ops) == 1 || !strings.ContainsAny(pattern.Value, "*?[")) {
				reported[pattern] = true
				r.file.Report(pattern, "no op %s%s", pattern.Value, f.suggest(pattern.Value))
			}
		}
		if len(matched) > 0 {
			f.recipe(r, matched)
		}
	}
	if len(*b) == 0 || len((*b)[0].file.Errs) == 0 {
		return nil
	}
	errs := (*b)[0].file.Errs
	errs.Sort()
	return errs
}

type fitter struct {
	byName map[string]*schema.Op
	names  []string
}

// suggest returns a similar op for an unknown name: its overloads, or the nearest name.
func (f *fitter) suggest(name string) string {
	var overloads []string
	i, _ := slices.BinarySearch(f.names, name+".")
	for ; i < len(f.names) && strings.HasPrefix(f.names[i], name+"."); i++ {
		overloads = append(overloads, f.names[i])
	}
	switch {
	case len(overloads) > 0:
		return ": its overloads are " + strings.Join(overloads, ", ")
	case strings.ContainsAny(name, "*?["):
		return ""
	}
	known := f.names
	if !strings.Contains(name, "::") {
		known = nil
		for _, n := range f.names {
			_, bare, _ := strings.Cut(n, "::")
			known = append(known, bare)
		}
	}
	return yamlfile.Suggest(name, known)
}

// recipe reports the arguments that none of the ops has, and values that none of the ops with the argument accepts.
func (f *fitter) recipe(r *Recipe, ops []*schema.Op) {
	for _, name := range r.names {
		var args []string
		misfit := ""
		for _, op := range ops {
			for i, a := range op.Func.Args {
				args = append(args, a.Name, sample.Positional(i))
			}
			i := argumentNamed(op, name.Value)
			if i < 0 {
				continue
			}
			v, _ := sample.ParseValue(r.args[name.Value].Value,
				&sample.SymbolTable{Of: make(map[string]int64), Sizes: r.symbols, Any: true}) // it was parsed before
			if misfit = f.argument(op, i, v); misfit == "" {
				break
			}
		}
		if !slices.Contains(args, name.Value) && r.optional {
			continue
		}
		if !slices.Contains(args, name.Value) {
			slices.Sort(args)
			r.file.Report(name, "no op of these has an argument %s%s", name.Value, yamlfile.Suggest(name.Value, args))
		} else if misfit != "" {
			r.file.Report(r.args[name.Value], "%s: %s", name.Value, misfit)
		}
	}
}

// argumentNamed returns the index of an op's argument by name or position; -1 for none.
func argumentNamed(op *schema.Op, name string) int {
	for i, a := range op.Func.Args {
		if a.Name == name || sample.Positional(i) == name {
			return i
		}
	}
	return -1
}

func (f *fitter) argument(op *schema.Op, i int, v sample.Value) string {
	a := op.Func.Args[i]
	if v.Kind == sample.DefaultValue && a.Default == "" {
		return "the schema has no default for it"
	}
	for _, ref := range v.References(nil) {
		if j := argumentNamed(op, sample.ArgumentOf(ref)); j < 0 || j >= i {
			return ref + " does not refer to an earlier argument"
		}
	}
	return f.value(a.Type, v)
}

func (f *fitter) value(t schema.Type, v sample.Value) string {
	switch {
	case v.Kind == sample.DefaultValue || v.Kind == sample.SameValue || t.Kind == schema.Optional &&
		v.Kind == sample.NoneValue:
		return ""
	case t.Kind == schema.Optional:
		return f.value(t.Elem[0], v)
	case v.Kind == sample.CallValue || v.Kind == sample.AfterValue:
		return f.call(t, v)
	}
	switch want, kinds := t.String(), takes[t.Name]; {
	case t.Kind == schema.List && v.Kind == sample.ListValue:
		return f.all(v.List, func(int) schema.Type { return t.Elem[0] })
	case t.Kind == schema.Tuple && v.Kind == sample.TupleValue && len(v.List) == len(t.Elem):
		return f.all(v.List, func(i int) schema.Type { return t.Elem[i] })
	case t.Kind == schema.Dict && v.Kind == sample.DictValue:
		return f.all(v.List, func(i int) schema.Type { return t.Elem[i%2] })
	case strings.HasPrefix(t.Name, sample.CustomClasses):
		if v.Kind == sample.NewValue && v.Text == t.Name {
			return ""
		}
		short := strings.TrimPrefix(t.Name, sample.CustomClasses)
		return fmt.Sprintf("want an object of the class %s, such as %s(...), found %s", short, short, v.Recipe())
	case t.Kind == schema.Base && (kinds == nil || slices.Contains(kinds, v.Kind)), t.Kind > schema.Dict:
		return "" // nothing is known about other types
	default:
		if like := exampleOf(t); like != "" {
			want += " such as " + like
		}
		return fmt.Sprintf("want %s, found %s", want, v.Recipe())
	}
}

func (f *fitter) all(values []sample.Value, of func(i int) schema.Type) string {
	for i, v := range values {
		if misfit := f.value(of(i), v); misfit != "" {
			return misfit
		}
	}
	return ""
}

// call returns the reason why a value can't be the result of an op, or its first argument, or "".
func (f *fitter) call(t schema.Type, v sample.Value) string {
	op := f.byName[v.Text]
	if op == nil {
		return "no op " + v.Text + f.suggest(v.Text)
	}
	args, returns := op.Func.Args, op.Func.Returns
	if len(v.List) > len(args) {
		return fmt.Sprintf("%s has %d arguments, not %d", v.Text, len(args), len(v.List))
	}
	for i, a := range args {
		switch {
		case i >= len(v.List) && a.Default == "":
			return fmt.Sprintf("%s lacks its argument %s: %s", v.Text, a.Name, op.Func)
		case i < len(v.List):
			if misfit := f.value(a.Type, v.List[i]); misfit != "" {
				return fmt.Sprintf("%s, %s: %s", v.Text, a.Name, misfit)
			}
		}
	}
	if v.Kind == sample.AfterValue {
		return f.value(t, v.List[0])
	}
	if len(returns) == 0 || t.Name != Unwrap(returns[0].Type).Name && t.Name != "Any" {
		return fmt.Sprintf("want %s, but %s returns %s", t, v.Text, op.Func.Returns)
	}
	return ""
}

// takes are the kinds of values that types accept. An int may stand for an enumerator.
var takes = map[string][]sample.ValueKind{
	"Tensor":  {sample.TensorValue, sample.NoneValue},
	"int":     {sample.IntValue, sample.DTypeValue, sample.LayoutValue, sample.FormatValue, sample.QSchemeValue},
	"SymInt":  {sample.IntValue},
	"float":   {sample.FloatValue, sample.IntValue},
	"Scalar":  {sample.IntValue, sample.FloatValue, sample.BoolValue, sample.ComplexValue},
	"number":  {sample.IntValue, sample.FloatValue, sample.BoolValue, sample.ComplexValue},
	"complex": {sample.ComplexValue}, "bool": {sample.BoolValue}, "str": {sample.TextValue}, "Dimname": {sample.TextValue},
	"ScalarType": {sample.DTypeValue}, "Layout": {sample.LayoutValue}, "MemoryFormat": {sample.FormatValue},
	"QScheme": {sample.QSchemeValue},
	"Device":  {sample.DeviceValue}, "Generator": {sample.GeneratorValue}, "Storage": {sample.StorageValue},
}

var examples = map[string]string{
	"Tensor": "t[2, 3]", "int": "3", "SymInt": "3", "float": "0.5", "Scalar": "0.5", "number": "0.5", "complex": "1+2i",
	"bool": "true", "str": "'text'",
	"ScalarType": "dtype:float32", "Layout": "layout:strided", "MemoryFormat": "format:channels_last",
	"QScheme": "qscheme:per_tensor_affine",
	"Device":  "device:" + tensor.CPU, "Generator": "generator", "Storage": "storage:float32[4]",
}

// exampleOf returns a value of a type, "" if none is known.
func exampleOf(t schema.Type) string {
	switch inner := slicesx.Join(t.Elem, ", ", exampleOf); t.Kind {
	case schema.List:
		return "[" + inner + "]"
	case schema.Tuple:
		return "(" + inner + ")"
	case schema.Dict:
		return "{" + strings.Replace(inner, ", ", ": ", 1) + "}"
	case schema.Optional:
		return inner
	}
	return examples[t.Name]
}
