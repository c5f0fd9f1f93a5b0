package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/schema"
)

// newOp returns the data of an op that its checks are planned from: the arguments and returns that
// hold tensors, with their alias sets.
func newOp(op *schema.Op) asserts.Op {
	out := asserts.Op{
		Name:      op.Namespace + "::" + op.Func.Name.String(),
		Schema:    op.Func.String(),
		Composite: op.IsComposite(),
		Tags:      op.Tags,
	}
	for i, a := range op.Func.Args {
		if a.Type.HoldsTensors() {
			s := subject(i, a.Name, a.Type, a.Alias)
			s.Out = a.Out
			out.Args = append(out.Args, s)
		}
	}
	for i, r := range op.Func.Returns {
		if r.Type.IsTensorLike() {
			out.Results = append(out.Results, subject(i, returnName(op, i), r.Type, r.Alias))
		}
	}
	return out
}

func subject(index int, name string, t schema.Type, alias *schema.Alias) asserts.Subject {
	kind := t.ListKind()
	s := asserts.Subject{
		Index:  index,
		Name:   name,
		Type:   schema.Return{Type: t, Alias: alias}.String(),
		Suffix: strings.TrimPrefix(t.String(), "Tensor"),
		List:   kind == "tensorlist" || kind == "opttensorlist",
	}
	for ; alias != nil; alias = alias.Outer {
		s.Before = append(s.Before, alias.Before...)
		s.After = append(s.After, alias.After...)
		s.Write = s.Write || alias.Write
	}
	return s
}

// listKind returns how a subject holds its tensors: schema.Type.ListKind.
func listKind(s *asserts.Subject) string {
	optional := strings.HasPrefix(s.Suffix, "?")
	switch {
	case s.List && optional:
		return "opttensorlist"
	case s.List:
		return "tensorlist"
	case optional:
		return "opttensor"
	}
	return "none"
}

// returnName names a return as in PyTorch's generated code: its own name, with _return appended if
// an argument has the same, or else result, or result0 and so on if there are several. If another
// return has that name, the position is appended: x@1.
//
// Source: torchgen/api/cpp.py, return_names.
func returnName(op *schema.Op, i int) string {
	name := plainReturnName(op, i)
	for j := range op.Func.Returns {
		if j < i && plainReturnName(op, j) == name {
			return fmt.Sprintf("%s@%d", name, i)
		}
	}
	return name
}

func plainReturnName(op *schema.Op, i int) string {
	own := op.Func.Returns[i].Name
	if slices.ContainsFunc(op.Func.Args, func(a schema.Argument) bool { return a.Name == own }) {
		return own + "_return"
	}
	return LocalName(op, i)
}
