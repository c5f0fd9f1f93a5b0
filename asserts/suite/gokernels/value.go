package gokernels

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/schema"
)

// convert converts a value of the suite to the type of a kernel's parameter.
func (l *Library) convert(v any, to reflect.Type) (reflect.Value, error) {
	if v == nil {
		return reflect.Zero(to), nil
	}
	if h, ok := v.(*handle); ok {
		v = Own(h.Tensor)
	}
	if l.Value != nil {
		if own, ok := l.Value(v, to); ok {
			return reflect.ValueOf(own), nil
		}
	}
	from := reflect.ValueOf(v)
	if from.Type().AssignableTo(to) {
		return from, nil
	}
	switch to.Kind() {
	case reflect.Pointer:
		return l.pointer(v, to)
	case reflect.Slice:
		return l.slice(v, to)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Complex64, reflect.Complex128:
		if from.CanConvert(to) && from.Kind() != reflect.Float64 {
			return from.Convert(to), nil
		}
	case reflect.Float32, reflect.Float64:
		if from.CanInt() || from.CanFloat() {
			return from.Convert(to), nil
		}
		if from.Kind() == reflect.Bool {
			return reflect.ValueOf(map[bool]float64{true: 1}[from.Bool()]).Convert(to), nil
		}
	case reflect.Bool, reflect.String:
		if from.Kind() == to.Kind() {
			return from.Convert(to), nil
		}
	}
	return reflect.Value{}, fmt.Errorf("%v is not of type %v", v, to)
}

func (l *Library) pointer(v any, to reflect.Type) (reflect.Value, error) {
	elem, err := l.convert(v, to.Elem())
	if err != nil {
		return elem, err
	}
	p := reflect.New(to.Elem())
	p.Elem().Set(elem)
	return p, nil
}

func (l *Library) slice(v any, to reflect.Type) (reflect.Value, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v} // a single number stands for a list, as in the schema language
	}
	out := reflect.MakeSlice(to, 0, len(list))
	for _, e := range list {
		elem, err := l.convert(e, to.Elem())
		if err != nil {
			return elem, err
		}
		out = reflect.Append(out, elem)
	}
	return out, nil
}

// defaultOf returns the schema's default of an argument, as a value of the suite.
func defaultOf(arg schema.Argument) (any, error) {
	text := arg.Default
	if list, ok := strings.CutPrefix(text, "["); ok {
		var all []any
		for word := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
			if word = strings.TrimSpace(word); word != "" {
				all = append(all, scalar(word))
			}
		}
		return append([]any{}, all...), nil
	}
	if text == "" {
		return nil, fmt.Errorf("argument %s has no default", arg.Name)
	}
	return scalar(text), nil
}

// names are the constants of the schema language: numbers, dtypes and memory formats.
var names = map[string]any{
	"None": nil, "True": true, "False": false, "Mean": int64(1), "Sum": int64(2),
	"long": engine.DType("int64"), "int": engine.DType("int32"), "float": engine.DType("float32"),
	"double": engine.DType("float64"),
	"bool":   engine.DType("bool"), "strided": engine.Layout("strided"), string(engine.CPU): engine.CPU,
	"contiguous_format": engine.MemoryFormat("contiguous_format"),
	"preserve_format":   engine.MemoryFormat("preserve_format"),
}

func scalar(word string) any {
	if v, ok := names[word]; ok {
		return v
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(word, 64); err == nil {
		return f
	}
	return strings.Trim(word, `"'`)
}
