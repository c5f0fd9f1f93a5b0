package emit

import (
	"go/types"
	"strconv"

	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/gen/internal/typed"
	"github.com/opassert/opassert/internal/slicesx"
)

// typed returns the function: the call, and its results in Go's types.
func (w *writer) typed(f typed.Func) string {
	summary := f.Name + " calls " + f.Plan.QualifiedName() + checked(f.Plan)
	params := slicesx.Map(f.Params, func(p typed.GoValue) bind.Param { return bind.Param{Name: p.Name, Type: p.Type} })
	signature, results := call(f.Name, w.params(params)...), w.typedResults(f)
	return documented(summary, f.Plan.Op.Func.String(), function(signature, results, w.typedBody(f)...))
}

func (w *writer) typedBody(f typed.Func) []string {
	if len(f.Results) == 0 {
		return []string{"_, " + f.Err + " := " + w.invoke(f), "return " + f.Err}
	}
	var taken, returned []string
	for i, r := range f.Results {
		returned = append(returned, r.Name)
		taken = append(taken, r.Name+" = "+w.take(r, f.Out+"["+strconv.Itoa(i)+"]"))
	}
	return []string{
		f.Out + ", " + f.Err + " := " + w.invoke(f),
		"if " + f.Err + " == nil " + block(2, taken...),
		"return " + list(append(returned, f.Err)...),
	}
}

func (w *writer) typedResults(f typed.Func) string {
	if len(f.Results) == 0 {
		return "error"
	}
	all := slicesx.Map(f.Results, func(r typed.GoValue) string { return r.Name + " " + w.typ(r.Type) })
	return call("", append(all, f.Err+" error")...)
}

func (w *writer) invoke(f typed.Func) string {
	args := append([]string{"enabled", "&" + f.OpVar}, slicesx.Map(f.Params, w.value)...)
	return call(w.libtorch("Invoke"), args...)
}

// value returns a parameter as a libtorch.Value.
func (w *writer) value(p typed.GoValue) string {
	x, by := p.Name, p.Make.By
	switch p.Make.How {
	case typed.Method:
		return x + "." + by + "()"
	case typed.Call:
		return call(w.libtorch(by), x)
	case typed.Spread:
		return call(w.libtorch(by), x+"...")
	case typed.Maybe:
		return call(w.libtorch("Maybe"), x, w.libtorch(by))
	case typed.MaybeOf:
		return call(w.libtorch("Maybe"), x, w.typ(p.Type.(*types.Pointer).Elem())+"."+by)
	case typed.MaybeList:
		return call(w.libtorch("MaybeList"), x, w.libtorch(by))
	}
	return x
}

// take returns a result converted from a libtorch.Value.
func (w *writer) take(r typed.GoValue, v string) string {
	switch field := v + "." + r.Take.By; r.Take.From {
	case typed.Field:
		return field
	case typed.Convert:
		return call(w.typ(r.Type), field)
	case typed.Nonzero:
		return field + " != 0"
	}
	return v
}
