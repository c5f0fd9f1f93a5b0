package emit

import (
	"go/types"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/gen/typed"
)

// typed is the function: the call, and its results in Go's types.
func (w *writer) typed(f typed.Func) *jen.Statement {
	summary := f.Name + " calls " + f.Plan.QualifiedName() + checked(f.Plan)
	return doc(summary, f.Plan.Op.Func.String()).
		Func().Id(f.Name).Params(w.typedParams(f.Params)...).Add(w.typedResults(f)).BlockFunc(func(g *jen.Group) {
		if len(f.Results) == 0 {
			g.List(jen.Id("_"), jen.Id(f.Err)).Op(":=").Add(w.invoke(f))
			g.Return(jen.Id(f.Err))
			return
		}
		g.List(jen.Id(f.Out), jen.Id(f.Err)).Op(":=").Add(w.invoke(f))
		g.If(jen.Id(f.Err).Op("==").Nil()).BlockFunc(func(g *jen.Group) {
			for i, r := range f.Results {
				g.Id(r.Name).Op("=").Add(w.take(r, jen.Id(f.Out).Index(jen.Lit(i))))
			}
		})
		g.Return(names(f)...)
	})
}

func names(f typed.Func) []jen.Code {
	var list []jen.Code
	for _, r := range f.Results {
		list = append(list, jen.Id(r.Name))
	}
	return append(list, jen.Id(f.Err))
}

func (w *writer) typedParams(params []typed.Value) []jen.Code {
	var list []parameter
	for _, p := range params {
		list = append(list, parameter{p.Name, p.Type, false})
	}
	return w.params(list)
}

func (w *writer) typedResults(f typed.Func) *jen.Statement {
	if len(f.Results) == 0 {
		return jen.Error()
	}
	var list []jen.Code
	for _, r := range f.Results {
		list = append(list, jen.Id(r.Name).Add(w.typ(r.Type)))
	}
	return jen.Params(append(list, jen.Id(f.Err).Error())...)
}

func (w *writer) invoke(f typed.Func) *jen.Statement {
	args := []jen.Code{jen.Id("enabled"), jen.Op("&").Id(f.OpVar)}
	for _, p := range f.Params {
		args = append(args, w.value(p))
	}
	return libtorch("Invoke").Call(args...)
}

func libtorch(name string) *jen.Statement { return jen.Qual(libtorchPath, name) }

// value is a parameter as a libtorch.Value.
func (w *writer) value(p typed.Value) *jen.Statement {
	x, by := jen.Id(p.Name), p.Make.By
	switch p.Make.How {
	case typed.Method:
		return x.Dot(by).Call()
	case typed.Call:
		return libtorch(by).Call(x)
	case typed.Spread:
		return libtorch(by).Call(x.Op("..."))
	case typed.Maybe:
		return libtorch("Maybe").Call(x, libtorch(by))
	case typed.MaybeOf:
		return libtorch("Maybe").Call(x, w.typ(p.Type.(*types.Pointer).Elem()).Dot(by))
	case typed.MaybeList:
		return libtorch("MaybeList").Call(x, libtorch(by))
	}
	return x
}

// take is a result out of a libtorch.Value.
func (w *writer) take(r typed.Value, v *jen.Statement) *jen.Statement {
	switch by := r.Take.By; r.Take.From {
	case typed.Field:
		return v.Dot(by)
	case typed.Convert:
		return w.typ(r.Type).Call(v.Dot(by))
	case typed.Nonzero:
		return v.Dot(by).Op("!=").Lit(0)
	}
	return v
}
