package libtorch

import (
	"fmt"
	"strings"
)

// OutOfSight returns the types of returns with tensors that cannot be observed, or of classes that may have some.
func (op *Op) OutOfSight() []string {
	var types []string
	for _, r := range op.Returns {
		plain := strings.HasPrefix(r.Type, "Dict(") && !strings.Contains(r.Type, "Tensor") && !strings.Contains(r.Type, "Any")
		if !plain && (r.holds == "x" || objectType(r.Type) != "") {
			types = append(types, r.Type)
		}
	}
	return types
}

// Unpassable returns the reason why the op cannot be called from here, or "".
func (op *Op) Unpassable() string {
	if op.vararg || op.varret {
		return "its schema does not fix the number of arguments or results"
	}
	for i, a := range op.Args {
		if a.Default != "" || strings.HasSuffix(a.Type, "?") {
			continue
		}
		class := objectType(a.Type)
		if class != "" && !strings.HasPrefix(class, "__torch__.") && !strings.HasPrefix(class, "Dict(") &&
			!strings.HasPrefix(class, "(") && !made(class) {
			return fmt.Sprintf("argument %d %q: no operator returns a %s, and it can't be constructed here", i, a.Name, class)
		}
	}
	return ""
}

// made reports whether some operator returns an object of a type.
func made(class string) bool {
	l, err := listed()
	return err == nil && //mutate:equivalent true: there is an Op, so there is a listing
		l.made()[class]
}

// objectType returns the type of the [Object] for an argument of this type, or its elements; "" with a ValueKind.
func objectType(typ string) string {
	for _, prefix := range []string{"__torch__.", "Dict(", "(", "Future(", "RRef(", "Await("} {
		if strings.HasPrefix(typ, prefix) {
			return strings.TrimRight(typ, "[]?")
		}
	}
	return ""
}
