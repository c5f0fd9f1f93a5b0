package typed

import (
	"go/token"
	"go/types"

	"github.com/opassert/opassert/schema"
)

// A GoForm is the Go form of a schema type.
type GoForm struct {
	Type types.Type
	Make string // the expression of a libtorch.Value, with %s for the Go value
	Take string // the expression of the Go value, with %s for the libtorch.Value; "" if no return has the type

	by string // what Make calls, "" for nothing: a function of package libtorch, or a method
}

// library is package libtorch with the types that forms name.
var library = types.NewPackage("github.com/opassert/opassert/asserts/libtorch", "libtorch")

func libraryType(name string) types.Type {
	return types.NewNamed(types.NewTypeName(token.NoPos, library, name, nil), types.NewStruct(nil, nil), nil)
}

var (
	tensor = libraryType("Tensor")
	dtype  = libraryType("DType")
	object = libraryType("Object")
	value  = libraryType("Value")
)

// A base is the form of a base type, and the function for a list of them.
type base struct {
	GoForm
	list string
}

// called is the form of values that a function of package libtorch makes.
func called(typ types.Type, by, take string) GoForm {
	return GoForm{typ, "libtorch." + by + "(%s)", take, by}
}

// method is the form of values of a type of package libtorch, which has the method Value.
func method(typ types.Type, name, take string) GoForm {
	return GoForm{typ, "%s.Value()", take, name + ".Value"}
}

func integer(list string) base { return base{called(types.Typ[types.Int64], "Int", "%s.Int"), list} }

func text(by, take, list string) base { return base{called(types.Typ[types.String], by, take), list} }

var (
	boolean = base{called(types.Typ[types.Bool], "Bool", "%s.Int != 0"), "Bools"}
	handle  = base{method(object, "Object", "%s.Object"), ""}
)

// bases are the base types with a form.
var bases = map[string]base{
	"Tensor":       {method(tensor, "Tensor", "%s.Tensor"), "Tensors"},
	"int":          integer("Ints"),
	"SymInt":       integer("Ints"),
	"DeviceIndex":  integer("Ints"),
	"Layout":       integer(""),
	"MemoryFormat": integer(""),
	"QScheme":      integer(""),
	"ScalarType":   {method(dtype, "DType", "libtorch.DType(%s.Int)"), ""},
	"float":        {called(types.Typ[types.Float64], "Float", "%s.Float"), "Floats"},
	"bool":         boolean,
	"SymBool":      boolean,
	"str":          text("String", "%s.Str", "Strings"),
	"Device":       text("Device", "%s.Str", ""),
	"Dimname":      text("Dimname", "", "Dimnames"),
	"Generator":    handle,
	"Storage":      handle,
	"Scalar":       {GoForm{value, "%s", "%s", ""}, "List"},
	"Stream":       {GoForm{value, "%s", "%s", ""}, ""},
}

// formOf returns the form of a type, and whether it has one. Optional tensors, Scalars and Streams are None as zero
// values; for other types the optional is a pointer, and an optional list is a slice that may be nil.
func formOf(t schema.Type) (GoForm, bool) {
	switch t.Kind {
	case schema.Base:
		b, ok := bases[t.Name]
		return b.GoForm, ok
	case schema.List:
		return listForm(t.Elem[0])
	case schema.Optional:
		return optionalForm(t.Elem[0])
	}
	return GoForm{}, false
}

func listForm(elem schema.Type) (GoForm, bool) {
	if elem.IsTensorLike() && elem.Kind == schema.Optional {
		elem = elem.Elem[0]
	}
	b := bases[elem.Name] // lists and optionals have no name, and so no form
	if b.list == "" {
		return GoForm{}, false
	}
	return GoForm{types.NewSlice(b.Type), "libtorch." + b.list + "(%s...)", listTakes[elem.Name], b.list}, true
}

var listTakes = map[string]string{"Tensor": "%s.Tensors", "int": "%s.Ints", "SymInt": "%s.Ints"}

func optionalForm(inner schema.Type) (GoForm, bool) {
	f, ok := formOf(inner)
	if !ok || inner.Kind == schema.Optional {
		return GoForm{}, false
	}
	switch {
	case inner.Kind == schema.List:
		f.Make, f.Take = "libtorch.MaybeList(%s, libtorch."+f.by+")", ""
	case inner.Name == "Tensor" || f.by == "":
	default:
		f = GoForm{Type: types.NewPointer(f.Type), Make: "libtorch.Maybe(%s, libtorch." + f.by + ")"}
	}
	return f, true
}
