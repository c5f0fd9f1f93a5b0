package bind

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/opassert/opassert/schema"
)

// fit says how a Go type can stand for a schema type.
type fit struct {
	ok   bool
	role Role
	want string // the Go types that would do, for the error
}

// fitType holds a Go type against a schema type.
func (b *binder) fitType(s schema.Type, t types.Type) fit {
	if s.IsTensorLike() {
		return b.fitTensor(s, t)
	}
	want := goType(s)
	switch s.Kind {
	case schema.Optional:
		inner := s.Elem[0]
		ok := b.fitType(inner, t).ok || isPointerTo(t, func(e types.Type) bool { return b.fitType(inner, e).ok })
		return fit{ok, Plain, want}
	case schema.List:
		elem := elemOf(t)
		return fit{elem != nil && b.fitType(s.Elem[0], elem).ok, Plain, want}
	case schema.Base:
		return fit{fitBase(s.Name, t), Plain, want}
	}
	return fit{true, Plain, want} // tuples, dicts, futures: the library's own types
}

// fitTensor knows the four shapes of tensors. A pointer to the tensor type
// may stand for an optional one.
func (b *binder) fitTensor(s schema.Type, t types.Type) fit {
	tensor := types.TypeString(b.tensor, types.RelativeTo(b.pkg.Types))
	isTensor := func(t types.Type) bool { return types.Identical(t, b.tensor) }
	switch s.ListKind() {
	case "none":
		return fit{isTensor(t), One, tensor}
	case "opttensor":
		if isPointerTo(t, isTensor) {
			return fit{true, Pointer, ""}
		}
		return fit{isTensor(t), One, tensor + " or *" + tensor}
	case "tensorlist":
		elem := elemOf(t)
		return fit{elem != nil && isTensor(elem), List, "[]" + tensor}
	}
	elem := elemOf(t)
	if elem != nil && isPointerTo(elem, isTensor) {
		return fit{true, PointerList, ""}
	}
	return fit{elem != nil && isTensor(elem), List, "[]" + tensor + " or []*" + tensor}
}

// basics are the base types that Go has words for; any other is the
// library's own, and every named type will do for it.
var basics = map[string]types.BasicInfo{
	"int":    types.IsInteger,
	"SymInt": types.IsInteger,
	"float":  types.IsFloat,
	"bool":   types.IsBoolean,
	"str":    types.IsString,
	"Scalar": types.IsNumeric,
}

func fitBase(name string, t types.Type) bool {
	basic, isBasic := t.Underlying().(*types.Basic)
	info, has := basics[name]
	if isBasic && has {
		return basic.Info()&info != 0
	}
	if isBasic {
		return basic.Info()&(types.IsInteger|types.IsString) != 0
	}
	return name != "bool" && name != "int" && isNamed(t)
}

func isNamed(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return true
	case *types.Interface:
		return t.Empty()
	}
	return false
}

func isPointerTo(t types.Type, elem func(types.Type) bool) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && elem(p.Elem())
}

// elemOf gives the element type of a slice or array, or nil.
func elemOf(t types.Type) types.Type {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	}
	return nil
}

// goType words the Go type that the schema type is usually written as.
func goType(s schema.Type) string {
	switch s.Kind {
	case schema.Optional:
		return "*" + goType(s.Elem[0]) + " (nil for none)"
	case schema.List:
		return "[]" + goType(s.Elem[0])
	}
	switch s.Name {
	case "int", "SymInt":
		return "int64"
	case "float", "Scalar":
		return "float64"
	case "bool":
		return "bool"
	case "str":
		return "string"
	}
	return fmt.Sprintf("a named type for %s", s)
}

// kernelParams gives a kernel's parameters without a leading context.
func kernelParams(k Kernel) []*types.Var {
	params := slices.Collect(k.Func.Signature().Params().Variables())
	if len(params) > 0 && isContext(params[0].Type()) {
		return params[1:]
	}
	return params
}

// kernelResults gives a kernel's results without a last error.
func kernelResults(k Kernel) []*types.Var {
	results := slices.Collect(k.Func.Signature().Results().Variables())
	if n := len(results); n > 0 && isError(results[n-1].Type()) {
		return results[:n-1]
	}
	return results
}

func isContext(t types.Type) bool { return types.TypeString(t, nil) == "context.Context" }

func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}
