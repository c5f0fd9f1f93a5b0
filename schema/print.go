package schema

import (
	"strconv"
	"strings"
)

// String prints the op as in its file, with the namespace if the text has it.
func (op *Op) String() string {
	if op.Qualified {
		return op.Namespace + "::" + op.Func.String()
	}
	return op.Func.String()
}

// Name returns the op's name with its overload: "add.Tensor" in aten,
// "ns::op.overload" elsewhere.
func (op *Op) Name() string {
	if op.Namespace == "aten" {
		return op.Func.Name.String()
	}
	return op.Namespace + "::" + op.Func.Name.String()
}

// String prints the schema as in native_functions.yaml, without a namespace.
func (f Function) String() string {
	b := make([]byte, 0, 256)
	b = f.Name.append(b)
	b = append(b, '(')
	b = f.appendArgs(b)
	b = append(b, ") -> "...)
	return string(f.appendReturns(b))
}

func (f Function) appendArgs(b []byte) []byte {
	kwargOnly := false
	for i, a := range f.Args {
		if i > 0 {
			b = append(b, ", "...)
		}
		if a.KwargOnly && !kwargOnly {
			kwargOnly = true
			b = append(b, "*, "...)
		}
		b = a.append(b)
	}
	if !f.Vararg {
		return b
	}
	if len(f.Args) > 0 {
		b = append(b, ", "...)
	}
	return append(b, "..."...)
}

// appendReturns prints one return without parentheses, unless it begins with one itself: a single
// tuple would read as several returns.
func (f Function) appendReturns(b []byte) []byte {
	if len(f.Returns) == 0 && f.Varret {
		return append(b, "..."...)
	}
	if len(f.Returns) == 1 && !f.Varret && f.Returns[0].Type.core().Kind != Tuple {
		return f.Returns[0].append(b)
	}
	b = append(b, '(')
	for i, r := range f.Returns {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = r.append(b)
	}
	if f.Varret {
		b = append(b, ", ..."...)
	}
	return append(b, ')')
}

// String prints the name with its overload: "add_.Tensor".
func (n Name) String() string { return string(n.append(nil)) }

// Root returns the name without its overload: "add_".
func (n Name) Root() string {
	n.Overload = ""
	return n.String()
}

func (n Name) append(b []byte) []byte {
	switch {
	case n.Dunder && n.Inplace:
		b = append(append(append(b, "__i"...), n.Base...), "__"...)
	case n.Dunder:
		b = append(append(append(b, "__"...), n.Base...), "__"...)
	case n.Inplace:
		b = append(append(b, n.Base...), '_')
	case n.Functional:
		b = append(append(b, n.Base...), functionalSuffix...)
	default:
		b = append(b, n.Base...)
	}
	if n.Overload != "" {
		b = append(append(b, '.'), n.Overload...)
	}
	return b
}

// String prints the argument: "Tensor(a!) self", "int dim=0".
func (a Argument) String() string { return string(a.append(nil)) }

// typeString prints the type with its alias annotation: "Tensor(a!)[]".
func (a Argument) typeString() string { return string(a.Type.append(nil, a.Alias)) }

func (a Argument) append(b []byte) []byte {
	b = a.Type.append(b, a.Alias)
	b = append(append(b, ' '), a.Name...)
	if a.Default != "" {
		b = append(append(b, '='), a.Default...)
	}
	return b
}

// String prints the return: "Tensor(a)", "Tensor values".
func (r Return) String() string { return string(r.append(nil)) }

func (r Return) append(b []byte) []byte {
	b = r.Type.append(b, r.Alias)
	if r.Name != "" {
		b = append(append(b, ' '), r.Name...)
	}
	return b
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
func (t Type) String() string { return string(t.append(nil, nil)) }

func (t Type) append(b []byte, a *Alias) []byte {
	b, _, _ = t.appendTo(b, a)
	return b
}

// appendTo prints the type, with annotations at their depths, and returns the
// remaining annotations and the depth reached.
func (t Type) appendTo(b []byte, a *Alias) ([]byte, *Alias, int) {
	depth := 0
	switch t.Kind {
	case Optional:
		b, a, depth = t.Elem[0].appendTo(b, a)
		b = append(b, '?')
		depth++
	case List:
		b, a, depth = t.Elem[0].appendTo(b, a)
		b = append(b, '[')
		if t.Size > 0 {
			b = strconv.AppendInt(b, int64(t.Size), 10)
		}
		b = append(b, ']')
		depth++
	case Base:
		b = append(b, t.Name...)
	default:
		b = append(b, t.Kind.constructor()...)
		b = append(b, '(')
		for i, e := range t.Elem {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = e.append(b, nil)
		}
		b = append(b, ')')
	}
	for a != nil && a.Depth == depth {
		b = append(append(append(b, '('), a.String()...), ')')
		a = a.Outer
	}
	return b, a, depth
}

var constructors = [...]string{Tuple: "", Dict: "Dict", Future: "Future", RRef: "RRef", Await: "Await", Union: "Union"}

// constructor returns the word before the parentheses of a type composed of others.
func (k TypeKind) constructor() string { return constructors[k] }

func (k Kind) String() string {
	switch k {
	case Functional:
		return "functional"
	case Inplace:
		return "inplace"
	case Out:
		return "out"
	case Mutable:
		return "mutable"
	default:
		return "scratch"
	}
}

func (c Class) String() string {
	switch c {
	case ClassOutOfPlace:
		return "out-of-place"
	case ClassInplace:
		return "in-place"
	default:
		return "view"
	}
}

func (v ViewReason) String() string {
	switch v {
	case NotView:
		return "not a view"
	case ViewReturn:
		return "a return has an alias set that is not written"
	case ViewInplace:
		return "the inplace_view tag"
	default:
		return "an argument escapes into the wildcard set"
	}
}
