package bind

import "go/types"

// typeName returns a name for a type that is equal if its package is loaded twice, and for all aliases.
func typeName(t types.Type) string { return types.TypeString(unalias(t), nil) }

// unalias is types.Unalias, also for the elements of pointers and slices.
func unalias(t types.Type) types.Type {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return types.NewPointer(unalias(t.Elem()))
	case *types.Slice:
		return types.NewSlice(unalias(t.Elem()))
	default:
		return t
	}
}

func isPointerTo(t types.Type, elem func(types.Type) bool) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && elem(p.Elem())
}

// elemOf returns the element type of a slice or array, or nil.
func elemOf(t types.Type) types.Type {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	}
	return nil
}

// assertsPath is the package with the types of Observe's parameters.
const assertsPath = "github.com/opassert/opassert/asserts"
