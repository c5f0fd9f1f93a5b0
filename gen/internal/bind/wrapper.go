package bind

import (
	"fmt"
	"go/types"

	"github.com/opassert/opassert/gen/plan"
)

// wrapper decides all that the emitter will print for one kernel.
func (b *binder) wrapper(p pair, planner *plan.Planner) Wrapper {
	sig := p.kernel.Func.Signature()
	w := Wrapper{Name: plan.GoName(p.op.Func.Name), Kernel: p.kernel, Plan: planner.Plan(p.op)}
	w.OpVar = "op" + w.Name
	names := b.reserved(w)
	b.refuseUnexported(p.kernel)

	if recv := sig.Recv(); recv != nil {
		w.Params = append(w.Params, Param{Name: names.Pick(recv.Name(), "kernels"), Type: recv.Type()})
	}
	params := kernelParams(p.kernel)
	if len(params) < sig.Params().Len() {
		w.Context = names.Pick(sig.Params().At(0).Name(), "ctx")
		w.Params = append(w.Params, Param{Name: w.Context, Type: sig.Params().At(0).Type()})
	}
	w.Params = append(w.Params, b.matchParams(p, params, names)...)
	w.Results = b.matchResults(p, names)
	if len(w.Results) < sig.Results().Len() {
		w.Err = names.Pick("", "err")
	}
	w.Call, w.Buf, w.Elem = names.Pick("", "call"), names.Pick("", "obs"), names.Pick("", "t")
	return w
}

func (b *binder) matchParams(p pair, params []*types.Var, names plan.NameSet) []Param {
	args := p.op.Func.Args
	if len(params) != len(args) {
		b.errorf(p.kernel.Pos, "kernel %s takes %s; the schema has %s: %s",
			p.kernel.Func.Name(), count(len(params), "parameter"), count(len(args), "argument"), p.op.Func)
		return nil
	}
	var matched []Param
	for i, v := range params {
		role, ok := b.fitType(args[i].Type, v.Type())
		if !ok {
			b.errorf(p.kernel.Pos, "kernel %s for %s: parameter %d (%s) is %s; the schema says %s %s, which wants %s",
				p.kernel.Func.Name(), p.op.Name(), i+1, v.Name(), b.typeString(v.Type()), args[i].Type, args[i].Name, b.wanted(args[i].Type))
		}
		variadic := p.kernel.Func.Signature().Variadic() && i == len(params)-1
		matched = append(matched, Param{names.Pick(v.Name(), args[i].Name), v.Type(), role, variadic})
	}
	return matched
}

func (b *binder) matchResults(p pair, names plan.NameSet) []Result {
	results, returns := kernelResults(p.kernel), p.op.Func.Returns
	if len(results) != len(returns) {
		b.errorf(p.kernel.Pos, "kernel %s returns %s; the schema has %s: %s",
			p.kernel.Func.Name(), count(len(results), "result"), count(len(returns), "return"), p.op.Func)
		return nil
	}
	var matched []Result
	for i, v := range results {
		role, ok := b.fitType(returns[i].Type, v.Type())
		if !ok {
			b.errorf(p.kernel.Pos, "kernel %s for %s: result %d is %s; the schema says %s, which wants %s",
				p.kernel.Func.Name(), p.op.Name(), i+1, b.typeString(v.Type()), returns[i].Type, b.wanted(returns[i].Type))
		}
		matched = append(matched, Result{names.Pick(v.Name(), plan.LocalName(p.op, i)), v.Type(), role})
	}
	return matched
}

func (b *binder) typeString(t types.Type) string {
	return types.TypeString(t, types.RelativeTo(b.pkg.Types))
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// reserved seeds a name set with what a wrapper's body refers to by name.
func (b *binder) reserved(w Wrapper) plan.NameSet {
	return plan.NewNameSet("asserts", "enabled", "len", "nil", "observed", b.pkg.Name, w.OpVar)
}

// refuseUnexported reports types in the signature that another package can't
// write down.
func (b *binder) refuseUnexported(k Kernel) {
	sig := k.Func.Signature()
	if t := firstType(unexportedIn(sig.Params()), unexportedIn(sig.Results())); t != nil {
		b.errorf(k.Pos, "kernel %s for %s uses %s, which the wrappers' package can't name; declare an exported type for it",
			k.Func.Name(), k.Op, b.typeString(t))
	}
}

// unexported returns the part of a type that has no name outside its package:
// an unexported type, or a struct or interface written in place.
func unexported(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.Named:
		return unexportedName(t, t.Obj(), t.TypeArgs())
	case *types.Alias:
		return unexportedName(t, t.Obj(), t.TypeArgs())
	case *types.Pointer:
		return unexported(t.Elem())
	case *types.Slice:
		return unexported(t.Elem())
	case *types.Array:
		return unexported(t.Elem())
	case *types.Chan:
		return unexported(t.Elem())
	case *types.Map:
		return firstType(unexported(t.Key()), unexported(t.Elem()))
	case *types.Signature:
		return firstType(unexportedIn(t.Params()), unexportedIn(t.Results()))
	case *types.Basic:
		return nil
	}
	return t
}

func unexportedName(t types.Type, name *types.TypeName, args *types.TypeList) types.Type {
	if name.Pkg() != nil && !name.Exported() {
		return t
	}
	for arg := range args.Types() {
		if bad := unexported(arg); bad != nil {
			return bad
		}
	}
	return nil
}

func unexportedIn(tuple *types.Tuple) types.Type {
	for v := range tuple.Variables() {
		if bad := unexported(v.Type()); bad != nil {
			return bad
		}
	}
	return nil
}

func firstType(a, b types.Type) types.Type {
	if a != nil {
		return a
	}
	return b
}
