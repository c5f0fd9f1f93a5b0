package emit

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/internal/slicesx"
)

// params returns the parameter list as written by hand: consecutive names of one type share it.
func (w *writer) params(all []bind.Param) []jen.Code {
	var params, ids []jen.Code
	for i, p := range all {
		ids = append(ids, jen.Id(p.Name))
		if i+1 < len(all) && !all[i+1].Variadic && types.Identical(p.Type, all[i+1].Type) {
			continue
		}
		params = append(params, list(ids...).Add(w.paramType(p)))
		ids = nil
	}
	return params
}

func (w *writer) paramType(p bind.Param) *jen.Statement {
	if p.Variadic {
		return tight(jen.Op("..."), w.typ(p.Type.(*types.Slice).Elem()))
	}
	return w.typ(p.Type)
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
		direction := map[types.ChanDir]string{types.SendRecv: "chan ", types.SendOnly: "chan<- ", types.RecvOnly: "<-chan "}[t.Dir()]
		return tight(jen.Op(direction), w.typ(t.Elem()))
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
	spelled := slicesx.Map(slices.Collect(args.Types()), func(t types.Type) jen.Code { return w.typ(t) })
	return tight(name, jen.Custom(jen.Options{Open: "[", Close: "]", Separator: ", "}, spelled...))
}

func (w *writer) tuple(tuple *types.Tuple) []jen.Code {
	return slicesx.Map(slices.Collect(tuple.Variables()), func(v *types.Var) jen.Code { return w.typ(v.Type()) })
}
