package emit

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/internal/slicesx"
)

// params returns the parameter list as written by hand: consecutive names of one type share it.
func (w *writer) params(all []bind.Param) []string {
	var params, ids []string
	for i, p := range all {
		ids = append(ids, p.Name)
		if i+1 < len(all) && !all[i+1].Variadic && types.Identical(p.Type, all[i+1].Type) {
			continue
		}
		typ := w.typ(p.Type)
		if p.Variadic {
			typ = "..." + strings.TrimPrefix(typ, "[]")
		}
		params, ids = append(params, list(ids...)+" "+typ), nil
	}
	return params
}

// results returns the result list: none, one type, or several in parentheses.
func results(types ...string) string {
	if len(types) > 1 {
		return call("", types...)
	}
	return list(types...)
}

func (w *writer) typ(t types.Type) string {
	switch t := t.(type) {
	case *types.Basic:
		return t.Name()
	case *types.Named:
		return w.namedType(t.Obj(), t.TypeArgs())
	case *types.Alias:
		if pkg := t.Obj().Pkg(); pkg != nil && !t.Obj().Exported() { // any has no package
			return w.typ(types.Unalias(t))
		}
		return w.namedType(t.Obj(), t.TypeArgs())
	case *types.Pointer:
		return "*" + w.typ(t.Elem())
	case *types.Slice:
		return "[]" + w.typ(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), w.typ(t.Elem()))
	case *types.Map:
		return "map[" + w.typ(t.Key()) + "]" + w.typ(t.Elem())
	case *types.Chan:
		direction := [...]string{types.SendRecv: "chan ", types.SendOnly: "chan<- ", types.RecvOnly: "<-chan "}
		return direction[t.Dir()] + w.typ(t.Elem())
	case *types.Signature:
		return strings.TrimSpace(call("func", w.tuple(t.Params())...) + " " + results(w.tuple(t.Results())...))
	}
	panic(fmt.Sprintf("emit: a type literal %v", t)) // bind refuses it
}

func (w *writer) namedType(obj *types.TypeName, args *types.TypeList) string {
	name := w.qual(obj.Pkg(), obj.Name())
	if args.Len() == 0 {
		return name
	}
	return name + "[" + slicesx.Join(slices.Collect(args.Types()), ", ", w.typ) + "]"
}

func (w *writer) tuple(tuple *types.Tuple) []string {
	return slicesx.Map(slices.Collect(tuple.Variables()), func(v *types.Var) string { return w.typ(v.Type()) })
}
