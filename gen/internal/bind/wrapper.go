package bind

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/schema"
)

// wrapper decides everything that the emitter prints for one kernel.
func (b *binder) wrapper(p pair, planner *plan.Planner) Wrapper {
	sig := p.kernel.Func.Signature()
	w := Wrapper{Name: cmp.Or(p.kernel.As, p.kernel.Func.Name()), Kernel: p.kernel, Tensor: b.tensor}
	w.Plan, w.OpVar = b.allowing(p, planner).Plan(p.op), "op"+w.Name
	// The body refers to these.
	names := plan.NewNameSet("asserts", "len", "make", "nil", "observe", "observed", "observeList", b.pkg.Name, w.OpVar)
	if t := unexported(sig); t != nil {
		b.errorf(p.kernel.Pos, "kernel %s for %s uses %s, which the wrappers' package can't name; "+
			"declare an exported type for it", p.kernel.Func.Name(), p.kernel.Op, b.typeString(t))
	}

	vars := given(p.op, p.kernel)
	received := len(vars) > len(kernelParams(p.kernel))
	if recv := sig.Recv(); recv != nil && !received {
		w.Params = append(w.Params, Param{Name: names.Pick(recv.Name(), "kernels"), Type: recv.Type()})
	}
	matched := b.matchParams(p, vars, names, &w)
	if len(kernelParams(p.kernel)) < sig.Params().Len() {
		w.Context = names.Pick(sig.Params().At(0).Name(), "ctx")
		ctx := Param{Name: w.Context, Type: sig.Params().At(0).Type()}
		at := 0
		if received {
			at = min(1, len(matched))
		}
		matched = slices.Insert(matched, at, ctx)
	}
	w.Params = append(w.Params, matched...)
	if returnsNothing(p) {
		w.Plan = w.Plan.WithoutResults()
	}
	w.Results = b.matchResults(p, names)
	if len(w.Results) < sig.Results().Len() {
		w.Err = names.Pick(sig.Results().At(sig.Results().Len()-1).Name(), "err")
	}
	unnamed := func(v *types.Var) bool { return v.Name() == "" || v.Name() == "_" }
	results := slices.Collect(sig.Results().Variables())
	w.NamedResults = len(results) > 0 && !slices.ContainsFunc(results, unnamed)
	w.Call, w.Arguments, w.Elem = names.Pick("", "call"), names.Pick("", "args"), names.Pick("", "t")
	return w
}

// allowing returns the planner with the exceptions in the kernel's comment.
func (b *binder) allowing(p pair, planner *plan.Planner) *plan.Planner {
	for _, a := range p.kernel.Allow {
		with, err := planner.Allowing(p.op, a.Check, a.Reason, position(b.pkg.fset, a.Pos))
		if err != nil {
			b.errorf(position(b.pkg.fset, a.Pos), "want a check and the reason after %s: %v", allowMark, err)
			continue
		}
		planner = with
	}
	return planner
}

// matchParams returns the parameters of arguments in the kernel's order, and sets those of the
// wrapper in the order of the schema's arguments.
func (b *binder) matchParams(p pair, vars []*types.Var, names plan.NameSet, w *Wrapper) []Param {
	args := p.op.Func.Args
	if len(vars) != len(args) {
		b.errorf(p.kernel.Pos, "kernel %s takes %s; the schema has %s: %s%s",
			p.kernel.Func.Name(), count(len(vars), "parameter"), count(len(args), "argument"), p.op.Func, takesOptions(vars))
		return nil
	}
	order := b.order(p, vars)
	matched := make([]Param, len(vars))
	for at, v := range vars {
		i := slices.Index(order, at) // each is one of the arguments, even with wrong names
		role, ok := b.fitType(args[i].Type, v.Type())
		if !ok {
			b.errorf(p.kernel.Pos, "kernel %s for %s: parameter %d (%s) is %s; the schema has %s %s, which wants %s",
				p.kernel.Func.Name(), p.op.Name(), at+1, v.Name(), b.typeString(v.Type()),
				args[i].Type, args[i].Name, b.wanted(args[i].Type))
		}
		variadic := p.kernel.Func.Signature().Variadic() && at == len(vars)-1
		matched[at] = Param{names.Pick(v.Name(), args[i].Name), v.Type(), role, variadic}
	}
	w.Args = slicesx.Map(order, func(at int) Param { return matched[at] })
	if !slices.IsSorted(order) || len(vars) > len(kernelParams(p.kernel)) {
		w.Order = order
	}
	return matched
}

// returnsNothing reports whether a kernel does not return its written arguments, as is usual in Go.
func returnsNothing(p pair) bool {
	returns := p.op.Func.Returns
	return len(kernelResults(p.kernel)) == 0 &&
		!slices.ContainsFunc(returns, func(r schema.Return) bool { return r.Alias == nil || !r.Alias.Write })
}

func (b *binder) matchResults(p pair, names plan.NameSet) []Param {
	results, returns := kernelResults(p.kernel), p.op.Func.Returns
	if returnsNothing(p) {
		return nil
	}
	if len(results) != len(returns) {
		b.errorf(p.kernel.Pos, "kernel %s returns %s; the schema has %s: %s%s",
			p.kernel.Func.Name(), count(len(results), "result"), count(len(returns), "return"), p.op.Func, returnsOK(results))
		return nil
	}
	var matched []Param
	for i, v := range results {
		role, ok := b.fitType(returns[i].Type, v.Type())
		if !ok {
			b.errorf(p.kernel.Pos, "kernel %s for %s: result %d is %s; the schema has %s, which wants %s",
				p.kernel.Func.Name(), p.op.Name(), i+1, b.typeString(v.Type()), returns[i].Type, b.wanted(returns[i].Type))
		}
		matched = append(matched, Param{names.Pick(v.Name(), plan.LocalName(p.op, i)), v.Type(), role, false})
	}
	return matched
}

// takesOptions returns the advice to mark another function instead of a function with a struct of options.
func takesOptions(vars []*types.Var) string {
	for _, v := range vars {
		t := pointee(v.Type())
		if s, ok := t.Underlying().(*types.Struct); ok && s.NumFields() > 0 && !observes(v.Type()) &&
			strings.Contains(strings.ToLower(types.TypeString(t, nil)), "opt") {
			return fmt.Sprintf("; mark a function with the schema's arguments, which fills in %s and calls this one", v.Name())
		}
	}
	return ""
}

// returnsOK returns the advice to mark another function instead of a function that returns a bool beside its tensor.
func returnsOK(results []*types.Var) string {
	if last := len(results) - 1; last > 0 && types.Identical(results[last].Type(), types.Typ[types.Bool]) {
		return "; mark a function that calls this one, and returns an error where the bool is false"
	}
	return ""
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

// unexported returns the part of a type that another package can't name: an unexported type, or an
// unnamed struct or interface with unexported parts.
func unexported(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.Named:
		return unexportedName(t, t.Obj(), t.TypeArgs())
	case *types.Alias:
		if hidden(t.Obj()) { // the wrapper uses the aliased type
			return unexported(types.Unalias(t))
		}
		return unexportedName(t, t.Obj(), t.TypeArgs())
	case *types.Map:
		return cmp.Or(unexported(t.Key()), unexported(t.Elem()))
	case *types.Signature:
		return cmp.Or(unexportedIn(t.Params()), unexportedIn(t.Results()))
	case interface{ Elem() types.Type }:
		return unexported(t.Elem())
	case *types.Basic:
		return nil
	}
	return t
}

func unexportedName(t types.Type, name *types.TypeName, args *types.TypeList) types.Type {
	if hidden(name) {
		return t
	}
	return cmp.Or(slicesx.Map(slices.Collect(args.Types()), unexported)...)
}

// hidden reports whether no other package can name a type; error and any have no package.
func hidden(name *types.TypeName) bool { return name.Pkg() != nil && !name.Exported() }

func unexportedIn(tuple *types.Tuple) types.Type {
	of := func(v *types.Var) types.Type { return unexported(v.Type()) }
	return cmp.Or(slicesx.Map(slices.Collect(tuple.Variables()), of)...)
}
