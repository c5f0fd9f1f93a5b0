package schema

import (
	"slices"
	"strings"
)

// Kind returns the kind of the op: whether it writes arguments, and which.
//
// Source: torchgen/model.py, FunctionSchema.kind.
func (op *Op) Kind() Kind { return op.Func.Kind() }

// Kind returns the kind of a function with this schema: whether it writes arguments, and which. An in-place name has
// precedence over out arguments, and these over any other written argument.
//
// Source: torchgen/model.py, FunctionSchema.kind.
func (f Function) Kind() Kind {
	if f.Name.Inplace {
		return Inplace
	}
	kind := Functional
	afterSelf := f.selfIndex() < 0
	for _, a := range f.Args {
		switch {
		case a.Out && strings.HasPrefix(a.Name, "_scratch_"):
			return Scratch
		case a.Out:
			kind = Out
		case afterSelf && a.writes():
			kind = Mutable
		}
		afterSelf = afterSelf || a.Name == "self"
	}
	return kind
}

// View reports whether the op returns views of its arguments, and why.
//
// Source: torchgen/model.py, NativeFunction.is_view_op.
func (op *Op) View() ViewReason {
	views := func(r Return) bool { return r.Alias != nil && !r.Alias.Write }
	escapes := func(a Argument) bool { return a.Alias != nil && slices.Contains(a.Alias.After, "*") }
	switch {
	case slices.ContainsFunc(op.Func.Returns, views):
		return ViewReturn
	case slices.Contains(op.Tags, inplaceViewTag) && !isResize(op.Func.Name):
		return ViewInplace
	case slices.ContainsFunc(op.Func.Args, escapes):
		return ViewWildcard
	}
	return NotView
}

const inplaceViewTag = "inplace_view"

// isResize reports whether the op is one of two that change metadata as in-place views do, and have
// the tag, but without a view variant in PyTorch.
//
// Note [resize_ is not a view].
//
// Source: torchgen/model.py, Note [resize_ in Functionalization].
func isResize(n Name) bool {
	return n.Overload == "" && n.Inplace && (n.Base == "resize" || n.Base == "resize_as")
}

// Class returns the class of the op by its promises. An op that writes an argument is in-place,
// even if it is also a view.
func (op *Op) Class() Class {
	switch {
	case slices.ContainsFunc(op.Func.Args, Argument.writes):
		return ClassInplace
	case op.View() != NotView:
		return ClassView
	}
	return ClassOutOfPlace
}

// IsComposite reports whether the op decomposes into other ops on every dispatch key, and so may return its argument.
func (op *Op) IsComposite() bool { return op.CompositeImplicit }

// IsMethod reports whether the operator is a method of a custom class, whose first argument is the
// object: ns::Class.method(__torch__.torch.classes.ns.Class self, ...).
func (op *Op) IsMethod() bool {
	args, name := op.Func.Args, op.Func.Name
	return len(args) > 0 && name.Overload != "" && args[0].Type.Name == customClass+op.Namespace+"."+name.Base
}

func (a Argument) writes() bool {
	return a.Alias != nil && (a.Alias.Write || a.Alias.Outer != nil && a.Alias.Outer.Write)
}

// with returns the argument with another annotation.
func (a Argument) with(alias *Alias) Argument {
	a.Alias = alias
	return a
}

// selfIndex returns the position of the positional argument named self, or -1.
func (f Function) selfIndex() int {
	return slices.IndexFunc(f.Args, func(a Argument) bool { return a.Name == "self" && !a.KwargOnly })
}

// core returns the type inside all lists and optionals.
func (t Type) core() Type {
	for t.Kind == Optional || t.Kind == List {
		t = t.Elem[0]
	}
	return t
}

// IsTensorLike reports whether the type is Tensor, behind any lists and optionals.
//
// Source: torchgen/model.py, Type.is_tensor_like.
func (t Type) IsTensorLike() bool { return t.is("Tensor") }

// HoldsTensors reports whether the type is tensor-like, or a tuple or a dict with
// such elements, inside any lists and optionals.
func (t Type) HoldsTensors() bool {
	t = t.core()
	switch t.Kind {
	case Tuple:
		return slices.ContainsFunc(t.Elem, Type.HoldsTensors)
	case Dict:
		return t.Elem[1].HoldsTensors()
	}
	return t.IsTensorLike()
}

func (t Type) is(base string) bool { return t.core().Name == base }

// ListKind returns how a tensor-like type holds its tensors: "none" (Tensor), "opttensor"
// (Tensor?), "tensorlist" (Tensor[], Tensor[]?), "opttensorlist" (Tensor?[]); a tuple or a dict
// that holds tensors counts as a list. It is "" for other types.
func (t Type) ListKind() string {
	switch {
	case !t.HoldsTensors():
		return ""
	case !t.IsTensorLike():
		return "tensorlist"
	}
	list, optional := false, false
	for ; t.Kind != Base; t = t.Elem[0] {
		switch t.Kind {
		case List:
			list, optional = true, false
		case Optional:
			optional = true
		}
	}
	switch {
	case list && optional:
		return "opttensorlist"
	case list:
		return "tensorlist"
	case optional:
		return "opttensor"
	}
	return "none"
}
