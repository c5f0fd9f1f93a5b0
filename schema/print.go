package schema

import (
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

// String prints the op as in its file, with the namespace if the text has it.
func (op *Op) String() string {
	if op.Qualified {
		return op.Namespace + "::" + op.Func.String()
	}
	return op.Func.String()
}

// Name returns the op's name with its overload: "add.Tensor" in aten, "ns::op.overload" elsewhere.
func (op *Op) Name() string {
	if op.Namespace == "aten" {
		return op.Func.Name.String()
	}
	return op.Namespace + "::" + op.Func.Name.String()
}

// String prints the schema as in native_functions.yaml, without a namespace. It prints one return without parentheses,
// unless it begins with one itself: a single tuple would read as several returns.
func (f Function) String() string {
	args := make([]string, 0, len(f.Args)+1)
	for i, a := range f.Args {
		if a.KwargOnly && (i == 0 || !f.Args[i-1].KwargOnly) {
			args = append(args, "*")
		}
		args = append(args, a.String())
	}
	returns := slicesx.Map(f.Returns, Return.String)
	if f.Vararg {
		args = append(args, "...")
	}
	if f.Varret {
		returns = append(returns, "...")
	}
	text := strings.Join(returns, ", ")
	if len(returns) != 1 || len(f.Returns) == 1 && f.Returns[0].Type.core().Kind == Tuple {
		text = "(" + text + ")"
	}
	return f.Name.String() + "(" + strings.Join(args, ", ") + ") -> " + text
}

// String prints the name with its overload: "add_.Tensor".
func (n Name) String() string {
	if n.Overload == "" {
		return n.Root()
	}
	return n.Root() + "." + n.Overload
}

// Root returns the name without its overload: "add_".
func (n Name) Root() string {
	switch {
	case n.Dunder && n.Inplace:
		return "__i" + n.Base + "__"
	case n.Dunder:
		return "__" + n.Base + "__"
	case n.Inplace:
		return n.Base + "_"
	case n.Functional:
		return n.Base + functionalSuffix
	}
	return n.Base
}

// String prints the argument: "Tensor(a!) self", "int dim=0".
func (a Argument) String() string {
	text := a.Type.annotated(a.Alias) + " " + a.Name
	if a.Default != "" {
		text += "=" + a.Default
	}
	return text
}

// String prints the return: "Tensor(a)", "Tensor values".
func (r Return) String() string {
	text := r.Type.annotated(r.Alias)
	if r.Name != "" {
		text += " " + r.Name
	}
	return text
}

// String prints the annotation without its parentheses: "a! -> a|b".
func (a Alias) String() string {
	s := strings.Join(a.Before, "|")
	if a.Write {
		s += "!"
	}
	if a.After != nil {
		s += " -> " + strings.Join(a.After, "|")
	}
	return s
}

// String prints the type without an alias annotation: "int[2]?".
func (t Type) String() string { return t.annotated(nil) }

// annotated prints the type with its alias annotation: "Tensor(a!)[]".
func (t Type) annotated(a *Alias) string {
	text, _, _ := t.print(a)
	return text
}

// print prints the type, with annotations at their depths, and returns the remaining annotations and the depth reached.
func (t Type) print(a *Alias) (text string, rest *Alias, depth int) {
	switch t.Kind {
	case Optional:
		text, a, depth = t.Elem[0].print(a)
		text += "?"
		depth++
	case List:
		text, a, depth = t.Elem[0].print(a)
		text += "["
		if t.Size > 0 {
			text += strconv.Itoa(t.Size)
		}
		text += "]"
		depth++
	case Base:
		text = t.Name
	default:
		text = constructors[t.Kind] + "(" + slicesx.Join(t.Elem, ", ", Type.String) + ")"
	}
	for ; a != nil && a.Depth == depth; a = a.Outer {
		text += "(" + a.String() + ")"
	}
	return text, a, depth
}

// constructors are the words before the parentheses of types composed of others.
var constructors = [...]string{Tuple: "", Dict: "Dict", Future: "Future", RRef: "RRef", Await: "Await", Union: "Union"}

var (
	kindNames = [...]string{
		Functional: "functional", Inplace: "inplace", Out: "out", Mutable: "mutable", Scratch: "scratch"}
	classNames  = [...]string{ClassOutOfPlace: "out-of-place", ClassInplace: "in-place", ClassView: "view"}
	viewReasons = [...]string{NotView: "not a view", ViewReturn: "a return has an alias set that is not written",
		ViewInplace: "the inplace_view tag", ViewWildcard: "an argument escapes into the wildcard set"}
)

func (k Kind) String() string       { return kindNames[k] }
func (c Class) String() string      { return classNames[c] }
func (v ViewReason) String() string { return viewReasons[v] }
