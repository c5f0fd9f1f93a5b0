package emit

import (
	"fmt"

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
		taken = append(taken, r.Name+" = "+fmt.Sprintf(r.Take, fmt.Sprintf("%s[%d]", f.Out, i)))
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
	args := []string{"enabled", "&" + f.OpVar}
	for _, p := range f.Params {
		args = append(args, fmt.Sprintf(p.Make, p.Name))
	}
	return call(w.imported(assertsPath+"/libtorch", "libtorch", "Invoke"), args...)
}
