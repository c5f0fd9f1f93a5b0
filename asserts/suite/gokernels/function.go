package gokernels

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strconv"

	"github.com/opassert/opassert/asserts/suite/engine"
)

// function is the kernel as a program would call it.
func (k *goKernel) function() *engine.GoFunction {
	t := k.Type()
	f := &engine.GoFunction{Name: runtime.FuncForPC(k.Pointer()).Name(), Returns: returns(t), Variadic: t.IsVariadic()}
	f.Fails = t.NumOut() > f.Returns
	for i := range t.NumIn() {
		in := engine.Input{Argument: slices.Index(k.at, i), Type: typeText(t.In(i))}
		switch {
		case t.In(i) == contextType:
			in.Argument = engine.ContextInput
		case i == 0 && k.receiver.IsValid():
			in.Argument = engine.ReceiverInput
		}
		f.Inputs = append(f.Inputs, in)
	}
	return f
}

// typeText is a type in Go, with quoted import paths.
func typeText(t reflect.Type) string {
	switch {
	case t.Name() != "" && t.PkgPath() != "":
		return strconv.Quote(t.PkgPath()) + "." + t.Name()
	case t.Name() == "" && t.Kind() == reflect.Pointer:
		return "*" + typeText(t.Elem())
	case t.Name() == "" && t.Kind() == reflect.Slice:
		return "[]" + typeText(t.Elem())
	case t.Name() == "" && t.Kind() == reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), typeText(t.Elem()))
	}
	return t.String()
}
