package libtorch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
)

// A Blind is a check that a boxed call cannot show for a subject: it should be
// told as not observable, not as passed.
type Blind struct {
	Code   asserts.Code
	On     string
	Reason string
}

// Blind tells what the engine cannot see of the op.
//
// A kernel gets a written argument as a Tensor& and may rebind it. On a boxed
// call that moves the stack's own reference, which is gone afterwards: it
// shows as OA006 where the argument is returned, and nowhere else. Arguments
// that are not written are const and cannot be rebound.
func (op *Op) Blind() []Blind {
	var blind []Blind
	for _, s := range op.subjects {
		if s.Write && !op.returned(s.Type) {
			blind = append(blind, Blind{asserts.InputImpl, s.Name, "a written argument that is not returned: a boxed call drops what the kernel leaves in it"})
		}
	}
	for i, r := range op.Returns {
		if r.holds == "x" {
			blind = append(blind, Blind{asserts.FreshImpl, op.returnName(i), "tensors inside a " + r.Type + " are out of sight"})
		}
	}
	return blind
}

// returned tells whether a return carries the alias sets of an argument's type.
func (op *Op) returned(argType string) bool {
	_, annotation, ok := strings.Cut(argType, "(")
	annotation, _, _ = strings.Cut(annotation, ")")
	return ok && slices.ContainsFunc(op.results, func(s asserts.Subject) bool {
		return strings.Contains(s.Type, "("+annotation+")")
	})
}

// Unpassable tells why the op cannot be called from here, "" where it can.
func (op *Op) Unpassable() string {
	if op.vararg || op.varret {
		return "its schema leaves the number of arguments or results open"
	}
	for i, a := range op.Args {
		if a.Default != "" || strings.HasSuffix(a.Type, "?") {
			continue
		}
		if class := objectType(a.Type); class != "" && !registry.listed.Load().made[class] {
			return fmt.Sprintf("argument %d %q: no operator gives a %s, and it can't be made here", i, a.Name, class)
		}
	}
	return ""
}

// objectType gives the type that an [Object] has to have to be of this type, or
// an element of it; "" for a type that has a Kind of its own.
func objectType(typ string) string {
	for _, prefix := range []string{"__torch__.", "Dict(", "(", "Future(", "RRef(", "Await("} {
		if strings.HasPrefix(typ, prefix) {
			return strings.TrimRight(typ, "[]?")
		}
	}
	return ""
}
