package emit

import (
	"go/types"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/gen/internal/typed"
	"github.com/opassert/opassert/internal/slicesx"
)

// typed returns the function: the call, and its results in Go's types.
func (w *writer) typed(f typed.Func) *jen.Statement {
	summary := f.Name + " calls " + f.Plan.QualifiedName() + checked(f.Plan)
	params := slicesx.Map(f.Params, func(p typed.GoValue) bind.Param { return bind.Param{Name: p.Name, Type: p.Type} })
	signature := jen.Func().Add(call(jen.Id(f.Name), w.params(params)...)).Add(w.typedResults(f))
	return documented(summary, f.Plan.Op.Func.String(), signature.Add(block(1, w.typedBody(f)...)))
}

func (w *writer) typedBody(f typed.Func) []jen.Code {
	out, err := jen.Id(f.Out), jen.Id(f.Err)
	if len(f.Results) == 0 {
		return []jen.Code{list(jen.Id("_"), err).Op(":=").Add(w.invoke(f)), jen.Return(err)}
	}
	var taken, returned []jen.Code
	for i, r := range f.Results {
		returned = append(returned, jen.Id(r.Name))
		taken = append(taken, jen.Id(r.Name).Op("=").Add(w.take(r, tight(out, jen.Index(jen.Lit(i))))))
	}
	return []jen.Code{
		list(out, err).Op(":=").Add(w.invoke(f)),
		jen.If(jen.Add(err).Op("==").Nil()).Add(block(2, taken...)),
		jen.Return(list(append(returned, err)...)),
	}
}

func (w *writer) typedResults(f typed.Func) *jen.Statement {
	if len(f.Results) == 0 {
		return jen.Error()
	}
	all := slicesx.Map(f.Results, func(r typed.GoValue) jen.Code { return jen.Id(r.Name).Add(w.typ(r.Type)) })
	return parens(append(all, jen.Id(f.Err).Error())...)
}

func (w *writer) invoke(f typed.Func) *jen.Statement {
	args := []jen.Code{jen.Id("enabled"), addressOf(jen.Id(f.OpVar))}
	for _, p := range f.Params {
		args = append(args, w.value(p))
	}
	return call(w.libtorch("Invoke"), args...)
}

// value returns a parameter as a libtorch.Value.
func (w *writer) value(p typed.GoValue) *jen.Statement {
	x, by := jen.Id(p.Name), p.Make.By
	switch p.Make.How {
	case typed.Method:
		return method(x, by)
	case typed.Call:
		return call(w.libtorch(by), x)
	case typed.Spread:
		return call(w.libtorch(by), spread(x))
	case typed.Maybe:
		return call(w.libtorch("Maybe"), x, w.libtorch(by))
	case typed.MaybeOf:
		return call(w.libtorch("Maybe"), x, selector(w.typ(p.Type.(*types.Pointer).Elem()), by))
	case typed.MaybeList:
		return call(w.libtorch("MaybeList"), x, w.libtorch(by))
	}
	return x
}

// take returns a result converted from a libtorch.Value.
func (w *writer) take(r typed.GoValue, v *jen.Statement) *jen.Statement {
	switch by := r.Take.By; r.Take.From {
	case typed.Field:
		return selector(v, by)
	case typed.Convert:
		return call(w.typ(r.Type), selector(v, by))
	case typed.Nonzero:
		return selector(v, by).Op("!=").Lit(0)
	}
	return v
}
