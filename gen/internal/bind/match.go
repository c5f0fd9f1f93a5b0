package bind

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"

	"github.com/opassert/opassert/schema"
)

// fitType reports whether a Go type can represent a schema type, and in which role.
func (b *binder) fitType(s schema.Type, t types.Type) (Role, bool) {
	if s.IsTensorLike() {
		return b.fitTensor(s, t)
	}
	switch s.Kind {
	case schema.Optional:
		fits := func(t types.Type) bool { _, ok := b.fitType(s.Elem[0], t); return ok }
		return Plain, fits(t) || isPointerTo(t, fits)
	case schema.List:
		elem := elemOf(t)
		if elem == nil {
			return Plain, false
		}
		return b.fitType(s.Elem[0], elem)
	case schema.Base:
		return Plain, fitBase(s.Name, t)
	}
	return Plain, true // tuples, dicts, futures: types of the library
}

// fitTensor knows the four forms of tensors. A pointer to the tensor type may represent an optional one.
func (b *binder) fitTensor(s schema.Type, t types.Type) (Role, bool) {
	isTensor := func(t types.Type) bool { return types.Identical(t, b.tensor) }
	switch s.ListKind() {
	case "none":
		return One, isTensor(t)
	case "opttensor":
		if isPointerTo(t, isTensor) {
			return Pointer, true
		}
		return One, isTensor(t)
	}
	elem := elemOf(t) // nil: neither
	if s.ListKind() == "opttensorlist" && isPointerTo(elem, isTensor) {
		return PointerList, true
	}
	return List, isTensor(elem)
}

// basics are the base types with a Go equivalent; for any other, every named type is accepted.
var basics = map[string]struct {
	info  types.BasicInfo
	usual string // the usual type
}{
	"int":    {types.IsInteger, "int64"},
	"SymInt": {types.IsInteger, "int64"},
	"float":  {types.IsFloat, "float64"},
	"bool":   {types.IsBoolean, "bool"},
	"str":    {types.IsString, "string"},
	"Scalar": {types.IsNumeric, "float64"},
}

func fitBase(name string, t types.Type) bool {
	basic, isBasic := t.Underlying().(*types.Basic)
	if want, has := basics[name]; isBasic && has {
		return basic.Info()&want.info != 0
	}
	if isBasic {
		return basic.Info()&(types.IsInteger|types.IsString) != 0
	}
	return name != "bool" && name != "int" && isNamed(t)
}

func isNamed(t types.Type) bool {
	switch t := pointee(t).(type) {
	case *types.Named:
		return true
	case *types.Interface:
		return t.Empty()
	}
	return false
}

// wanted describes the Go type that usually represents the schema type.
func (b *binder) wanted(s schema.Type) string {
	switch s.Kind {
	case schema.Optional:
		if s.IsTensorLike() {
			return b.wanted(s.Elem[0])
		}
		return "*" + b.wanted(s.Elem[0]) + " (nil for none)"
	case schema.List:
		return "[]" + b.wanted(s.Elem[0])
	}
	if s.Name == "Tensor" {
		return b.typeString(b.tensor)
	}
	return cmp.Or(basics[s.Name].usual, fmt.Sprintf("a named type for %s", s))
}

// kernelParams returns a kernel's parameters without a first context.
func kernelParams(k Kernel) []*types.Var {
	params := slices.Collect(k.Func.Signature().Params().Variables())
	if len(params) > 0 && typeName(params[0].Type()) == "context.Context" {
		return params[1:]
	}
	return params
}

// kernelResults returns a kernel's results without a last error.
func kernelResults(k Kernel) []*types.Var {
	results := slices.Collect(k.Func.Signature().Results().Variables())
	if n := len(results); n > 0 && isError(results[n-1].Type()) {
		return results[:n-1]
	}
	return results
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }
