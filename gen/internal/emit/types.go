package emit

import (
	"fmt"
	"go/types"

	"github.com/dave/jennifer/jen"
)

// A parameter is one parameter of a function.
type parameter struct {
	name     string
	typ      types.Type
	variadic bool
}

// params returns the parameter list as written by hand: consecutive names of one type share it.
func (w *writer) params(all []parameter) []jen.Code {
	var params, ids []jen.Code
	for i, p := range all {
		ids = append(ids, jen.Id(p.name))
		if i+1 < len(all) && !all[i+1].variadic && types.Identical(p.typ, all[i+1].typ) {
			continue
		}
		params = append(params, list(ids...).Add(w.paramType(p)))
		ids = nil
	}
	return params
}

func (w *writer) paramType(p parameter) *jen.Statement {
	if p.variadic {
		return tight(jen.Op("..."), w.typ(p.typ.(*types.Slice).Elem()))
	}
	return w.typ(p.typ)
}

// results returns the result list: none, one type, or several in parentheses.
func results(types ...jen.Code) *jen.Statement {
	switch len(types) {
	case 0:
		return jen.Null()
	case 1:
		return jen.Add(types[0])
	}
	return parens(types...)
}

// typ prints a type.
func (w *writer) typ(t types.Type) *jen.Statement {
	switch t := t.(type) {
	case *types.Basic:
		return jen.Id(t.Name())
	case *types.Named:
		return w.namedType(t.Obj(), t.TypeArgs())
	case *types.Alias:
		if pkg := t.Obj().Pkg(); pkg != nil && !t.Obj().Exported() { // any has no package
			return w.typ(types.Unalias(t))
		}
		return w.namedType(t.Obj(), t.TypeArgs())
	case *types.Pointer:
		return pointerTo(w.typ(t.Elem()))
	case *types.Slice:
		return sliceOf(w.typ(t.Elem()))
	case *types.Array:
		return tight(jen.Index(jen.Lit(int(t.Len()))), w.typ(t.Elem()))
	case *types.Map:
		return tight(jen.Map(w.typ(t.Key())), w.typ(t.Elem()))
	case *types.Chan:
		return w.channel(t)
	case *types.Signature:
		return call(jen.Func(), w.tuple(t.Params())...).Add(results(w.tuple(t.Results())...))
	}
	panic(fmt.Sprintf("emit: a type literal %v", t)) // bind refuses it
}

func (w *writer) namedType(obj *types.TypeName, args *types.TypeList) *jen.Statement {
	name := w.qual(obj.Pkg(), obj.Name())
	if args.Len() == 0 {
		return name
	}
	var spelled []jen.Code
	for t := range args.Types() {
		spelled = append(spelled, w.typ(t))
	}
	return tight(name, jen.Custom(jen.Options{Open: "[", Close: "]", Separator: ", "}, spelled...))
}

func (w *writer) channel(t *types.Chan) *jen.Statement {
	switch t.Dir() {
	case types.SendOnly:
		return tight(jen.Chan(), jen.Op("<-")).Add(w.typ(t.Elem()))
	case types.RecvOnly:
		return tight(jen.Op("<-"), jen.Chan()).Add(w.typ(t.Elem()))
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
