package typed

import "github.com/opassert/opassert/schema"

// A form is how a schema type is written in Go.
type form struct {
	goType string
	value  string // a format: the expression that makes the Go value a libtorch.Value
	take   string // a format: the expression that takes it out of one; "" where no return has the type
	wrap   string // the function of one value that value calls, for optional ones
	list   string // the function of many that lists call
}

// forms are those of the base types. A Scalar is a libtorch.Value itself.
var forms = map[string]form{
	"Tensor":       {"libtorch.Tensor", "%s.Value()", "%s.Tensor", "libtorch.Tensor.Value", "libtorch.Tensors"},
	"int":          {"int64", "libtorch.Int(%s)", "%s.Int", "libtorch.Int", "libtorch.Ints"},
	"SymInt":       {"int64", "libtorch.Int(%s)", "%s.Int", "libtorch.Int", "libtorch.Ints"},
	"DeviceIndex":  {"int64", "libtorch.Int(%s)", "%s.Int", "libtorch.Int", "libtorch.Ints"},
	"Layout":       {"int64", "libtorch.Int(%s)", "%s.Int", "libtorch.Int", ""},
	"MemoryFormat": {"int64", "libtorch.Int(%s)", "%s.Int", "libtorch.Int", ""},
	"QScheme":      {"int64", "libtorch.Int(%s)", "%s.Int", "libtorch.Int", ""},
	"ScalarType":   {"libtorch.DType", "%s.Value()", "libtorch.DType(%s.Int)", "libtorch.DType.Value", ""},
	"float":        {"float64", "libtorch.Float(%s)", "%s.Float", "libtorch.Float", "libtorch.Floats"},
	"bool":         {"bool", "libtorch.Bool(%s)", "%s.Int != 0", "libtorch.Bool", "libtorch.Bools"},
	"SymBool":      {"bool", "libtorch.Bool(%s)", "%s.Int != 0", "libtorch.Bool", "libtorch.Bools"},
	"str":          {"string", "libtorch.String(%s)", "%s.Str", "libtorch.String", "libtorch.Strings"},
	"Device":       {"string", "libtorch.Device(%s)", "%s.Str", "libtorch.Device", ""},
	"Dimname":      {"string", "libtorch.Dimname(%s)", "", "libtorch.Dimname", "libtorch.Dimnames"},
	"Generator":    {"libtorch.Object", "%s.Value()", "%s.Object", "libtorch.Object.Value", ""},
	"Storage":      {"libtorch.Object", "%s.Value()", "%s.Object", "libtorch.Object.Value", ""},
	"Scalar":       {"libtorch.Value", "%s", "%s", "", "libtorch.List"},
	"Stream":       {"libtorch.Value", "%s", "%s", "", ""},
}

// formOf gives the form of a type, and whether it has one. Optional tensors,
// Scalars and Streams have a zero value that says none; of other types the
// optional is a pointer, and an optional list is a slice that may be nil.
func formOf(t schema.Type) (form, bool) {
	switch t.Kind {
	case schema.Base:
		f, ok := forms[t.Name]
		return f, ok
	case schema.List:
		return listForm(t.Elem[0])
	case schema.Optional:
		return optionalForm(t.Elem[0])
	}
	return form{}, false
}

func listForm(elem schema.Type) (form, bool) {
	if elem.IsTensorLike() && elem.Kind == schema.Optional {
		elem = elem.Elem[0]
	}
	f := forms[elem.Name] // lists and optionals have no name, and so no form
	if f.list == "" {
		return form{}, false
	}
	return form{"[]" + f.goType, f.list + "(%s...)", listTakes[elem.Name], "", f.list}, true
}

// listTakes are the lists that returns have.
var listTakes = map[string]string{
	"Tensor": "%s.Tensors",
	"int":    "%s.Ints",
	"SymInt": "%s.Ints",
}

func optionalForm(inner schema.Type) (form, bool) {
	f, ok := formOf(inner)
	switch {
	case !ok || inner.Kind == schema.Optional:
		return form{}, false
	case inner.Kind == schema.List:
		f.value, f.take = "libtorch.MaybeList(%s, "+f.list+")", ""
	case inner.Name != "Tensor" && f.wrap != "":
		f.goType, f.value, f.take = "*"+f.goType, "libtorch.Maybe(%s, "+f.wrap+")", ""
	}
	return f, true
}
