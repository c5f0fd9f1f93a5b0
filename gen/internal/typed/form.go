package typed

import (
	"go/token"
	"go/types"

	"github.com/opassert/opassert/schema"
)

// A GoForm is the Go form of a schema type.
type GoForm struct {
	Type types.Type
	Make Make
	Take Take
}

// A Make is the conversion of a Go value to a libtorch.Value.
type Make struct {
	How How
	By  string // the function of package libtorch, or the method of the value's type
}

// A How is the form of the conversion.
type How uint8

const (
	As        How = iota // none: the Go value is a libtorch.Value
	Method               // x.By()
	Call                 // libtorch.By(x)
	Spread               // libtorch.By(x...)
	Maybe                // libtorch.Maybe(x, libtorch.By)
	MaybeOf              // libtorch.Maybe(x, T.By), of a pointer to T
	MaybeList            // libtorch.MaybeList(x, libtorch.By)
)

// A Take is the conversion of a libtorch.Value to a Go value.
type Take struct {
	From From
	By   string // a field of libtorch.Value
}

// A From is the conversion of the field.
type From uint8

const (
	Nothing From = iota // no return has the type
	Whole               // the libtorch.Value as it is
	Field               // v.By
	Convert             // T(v.By), of the Go type T
	Nonzero             // v.By != 0
)

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

func integer(list string) base {
	return base{GoForm{types.Typ[types.Int64], Make{Call, "Int"}, Take{Field, "Int"}}, list}
}

func text(by, list string) base {
	return base{GoForm{types.Typ[types.String], Make{Call, by}, Take{Field, "Str"}}, list}
}

var (
	boolean = base{GoForm{types.Typ[types.Bool], Make{Call, "Bool"}, Take{Nonzero, "Int"}}, "Bools"}
	handle  = base{GoForm: GoForm{object, Make{Method, "Value"}, Take{Field, "Object"}}}
)

// bases are the base types with a form.
var bases = map[string]base{
	"Tensor":       {GoForm{tensor, Make{Method, "Value"}, Take{Field, "Tensor"}}, "Tensors"},
	"int":          integer("Ints"),
	"SymInt":       integer("Ints"),
	"DeviceIndex":  integer("Ints"),
	"Layout":       integer(""),
	"MemoryFormat": integer(""),
	"QScheme":      integer(""),
	"ScalarType":   {GoForm{dtype, Make{Method, "Value"}, Take{Convert, "Int"}}, ""},
	"float":        {GoForm{types.Typ[types.Float64], Make{Call, "Float"}, Take{Field, "Float"}}, "Floats"},
	"bool":         boolean,
	"SymBool":      boolean,
	"str":          text("String", "Strings"),
	"Device":       text("Device", ""),
	"Dimname":      {GoForm{types.Typ[types.String], Make{Call, "Dimname"}, Take{}}, "Dimnames"},
	"Generator":    handle,
	"Storage":      handle,
	"Scalar":       {GoForm{value, Make{}, Take{From: Whole}}, "List"},
	"Stream":       {GoForm{value, Make{}, Take{From: Whole}}, ""},
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
	return GoForm{types.NewSlice(b.Type), Make{Spread, b.list}, listTakes[elem.Name]}, true
}

var listTakes = map[string]Take{
	"Tensor": {Field, "Tensors"},
	"int":    {Field, "Ints"},
	"SymInt": {Field, "Ints"},
}

func optionalForm(inner schema.Type) (GoForm, bool) {
	f, ok := formOf(inner)
	if !ok || inner.Kind == schema.Optional {
		return GoForm{}, false
	}
	switch {
	case inner.Kind == schema.List:
		f.Make.How, f.Take = MaybeList, Take{}
	case inner.Name == "Tensor" || f.Make.How == As:
	case f.Make.How == Method:
		f = GoForm{types.NewPointer(f.Type), Make{MaybeOf, f.Make.By}, Take{}}
	default:
		f = GoForm{types.NewPointer(f.Type), Make{Maybe, f.Make.By}, Take{}}
	}
	return f, true
}
