package bind

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/yamlfile"
	"github.com/opassert/opassert/schema"
)

// given returns the values through which a kernel receives arguments: its parameters without a context, and its
// receiver if that makes as many as the schema has arguments. Any other receiver is the library.
func given(op *schema.Op, k Kernel) []*types.Var {
	params := kernelParams(k)
	if recv := k.Func.Signature().Recv(); recv != nil && len(params)+1 == len(op.Func.Args) {
		return append([]*types.Var{recv}, params...)
	}
	return params
}

// order returns the index of the kernel's parameter for each argument of the schema: the one named
// in the mark; the receiver for the argument that the op writes, or else for the first; and the
// others by name if the mark has names, else in order.
func (b *binder) order(p pair, vars []*types.Var) []int {
	args := p.op.Func.Args
	order := make([]int, len(args))
	for i := range order {
		order[i] = -1
	}
	bound := make([]bool, len(vars))
	bind := func(arg, param int) { order[arg], bound[param] = param, true }
	for _, n := range p.kernel.Names {
		at := position(b.pkg.fset, n.Pos)
		param := slices.IndexFunc(vars, func(v *types.Var) bool { return v.Name() == n.Param })
		arg := slices.IndexFunc(args, func(a schema.Argument) bool { return a.Name == n.Arg })
		switch {
		case param < 0:
			near := yamlfile.Suggest(n.Param, slicesx.Map(vars, (*types.Var).Name))
			b.errorf(at, "kernel %s has no parameter %s%s", p.kernel.Func.Name(), n.Param, near)
		case arg < 0:
			names := slicesx.Map(args, func(a schema.Argument) string { return a.Name })
			b.errorf(at, "%s has no argument %s%s", p.op.Func, n.Arg, yamlfile.Suggest(n.Arg, names))
		case bound[param] || order[arg] >= 0:
			b.errorf(at, "%s=%s is the second name of one of them: give each once", n.Param, n.Arg)
		default:
			bind(arg, param)
		}
	}
	if receives := len(vars) > len(kernelParams(p.kernel)); receives && !bound[0] {
		if arg := written(args); order[arg] < 0 {
			bind(arg, 0)
		}
	}
	for param, v := range vars {
		arg := named(args, v)
		if len(p.kernel.Names) > 0 && !bound[param] && arg >= 0 && order[arg] < 0 {
			bind(arg, param)
		}
	}
	for param := range vars {
		if arg := slices.Index(order, -1); !bound[param] && arg >= 0 {
			bind(arg, param)
		}
	}
	return order
}

// written returns the index of the argument that a method's receiver represents.
func written(args []schema.Argument) int {
	return max(0, slices.IndexFunc(args, func(a schema.Argument) bool { return a.Alias != nil && a.Alias.Write }))
}

// Unnamed returns the first tensor parameter of a writing op that is bound by its position and has
// the name of no argument, "" for none: it may be meant for another argument.
func Unnamed(op *schema.Op, k Kernel) string {
	args, vars := op.Func.Args, kernelParams(k)
	writes := slices.ContainsFunc(args, func(a schema.Argument) bool { return a.Alias != nil && a.Alias.Write })
	if !writes || len(k.Names) > 0 || len(vars) != len(args) || len(args) < 2 {
		return ""
	}
	for i, v := range vars {
		if args[i].Type.IsTensorLike() && named(args, v) < 0 {
			return fmt.Sprintf("parameter %s of kernel %s has the name of no argument and is bound to %s by its position: "+
				"if another is meant, write it in the mark: %s %s %s=%s",
				v.Name(), k.Func.Name(), args[i].Name, mark, k.Op, v.Name(), args[written(args)].Name)
		}
	}
	return ""
}

// OutOfOrder returns the first parameter of a kernel with the name of an argument at another position in the schema, ""
// for none. Parameters are bound by order alone, so its name is misleading.
func OutOfOrder(op *schema.Op, kernel *types.Func) string {
	args := op.Func.Args
	for i, p := range kernelParams(Kernel{Func: kernel}) {
		byName := named(args, p)
		if i < len(args) && byName >= 0 && !sameName(args[i].Name, p.Name()) {
			return fmt.Sprintf("parameter %d of kernel %s is named %s and gets argument %s, "+
				"while %s is argument %d of %s: put the parameters in the schema's order",
				i+1, kernel.Name(), p.Name(), args[i].Name, args[byName].Name, byName+1, op.Func)
		}
	}
	return ""
}

// named returns the index of the argument with the name of a parameter, or -1.
func named(args []schema.Argument, v *types.Var) int {
	return slices.IndexFunc(args, func(a schema.Argument) bool { return sameName(a.Name, v.Name()) })
}

// sameName reports whether names are equal except for case and underscores, as grad_output and gradOutput.
func sameName(snake, camel string) bool {
	plain := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	return plain(snake) == plain(camel)
}
