package emit

import (
	"fmt"
	"go/types"

	"github.com/dave/jennifer/jen"
)

// A parameter is one of a function's.
type parameter struct {
	name     string
	typ      types.Type
	variadic bool
}

// params is the parameter list as Go does it by hand: names that share a type
// share its mention.
func (w *writer) params(params []parameter) []jen.Code {
	var list, names []jen.Code
	for i, p := range params {
		names = append(names, jen.Id(p.name))
		if i+1 < len(params) && !params[i+1].variadic && types.Identical(p.typ, params[i+1].typ) {
			continue
		}
		list = append(list, jen.List(names...).Add(w.paramType(p)))
		names = nil
	}
	return list
}

func (w *writer) paramType(p parameter) *jen.Statement {
	if p.variadic {
		return jen.Op("...").Add(w.typ(p.typ.(*types.Slice).Elem()))
	}
	return w.typ(p.typ)
}

// typ spells a type.
func (w *writer) typ(t types.Type) *jen.Statement {
	switch t := t.(type) {
	case *types.Basic:
		return jen.Id(t.Name())
	case *types.Named:
		return w.named(t.Obj(), t.TypeArgs())
	case *types.Alias:
		return w.named(t.Obj(), t.TypeArgs())
	case *types.Pointer:
		return jen.Op("*").Add(w.typ(t.Elem()))
	case *types.Slice:
		return jen.Index().Add(w.typ(t.Elem()))
	case *types.Array:
		return jen.Index(jen.Lit(int(t.Len()))).Add(w.typ(t.Elem()))
	case *types.Map:
		return jen.Map(w.typ(t.Key())).Add(w.typ(t.Elem()))
	case *types.Chan:
		return w.channel(t)
	case *types.Signature:
		return jen.Func().Params(w.tuple(t.Params())...).Params(w.tuple(t.Results())...)
	}
	panic(fmt.Sprintf("emit: a type literal %v", t)) // bind refuses it
}

func (w *writer) named(obj *types.TypeName, args *types.TypeList) *jen.Statement {
	name := w.qual(obj.Pkg(), obj.Name())
	if args.Len() == 0 {
		return name
	}
	var list []jen.Code
	for t := range args.Types() {
		list = append(list, w.typ(t))
	}
	return name.Types(list...)
}

// qual spells a name of a package; nil is the universe.
func (w *writer) qual(pkg *types.Package, name string) *jen.Statement {
	if pkg == nil {
		return jen.Id(name)
	}
	w.use(pkg.Path(), pkg.Name())
	return jen.Qual(pkg.Path(), name)
}

func (w *writer) channel(t *types.Chan) *jen.Statement {
	switch t.Dir() {
	case types.SendOnly:
		return jen.Chan().Op("<-").Add(w.typ(t.Elem()))
	case types.RecvOnly:
		return jen.Op("<-").Chan().Add(w.typ(t.Elem()))
	}
	return jen.Chan().Add(w.typ(t.Elem()))
}

func (w *writer) tuple(tuple *types.Tuple) []jen.Code {
	var codes []jen.Code
	for v := range tuple.Variables() {
		codes = append(codes, w.typ(v.Type()))
	}
	return codes
}
