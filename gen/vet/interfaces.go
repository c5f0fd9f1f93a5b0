package vet

import (
	"cmp"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"

	"github.com/opassert/opassert/gen/internal/bind"
)

// checkInterfaces reports conversions of an object with kernels to an interface, or to a type argument for one, that
// has their methods: callers of the interface do not know that they are kernels, and might be given an object with
// checks instead. The kernels' own package may do so, unless it returns the interface.
func (k *packageKernels) checkInterfaces(pass *analysis.Pass) {
	built := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA)
	for _, fn := range append(built.SrcFuncs, built.Pkg.Func("init")) {
		for _, block := range fn.Blocks {
			for _, instr := range block.Instrs {
				if m, ok := instr.(*ssa.MakeInterface); ok {
					k.checkConversion(pass, position(m), m.X.Type(), m.Type(), isReturned(m))
				}
			}
		}
	}
	for id, instance := range pass.TypesInfo.Instances {
		if obj, ok := pass.TypesInfo.Uses[id].(*types.Func); ok {
			params := obj.Signature().TypeParams()
			for i := range params.Len() {
				k.checkConversion(pass, id.Pos(), instance.TypeArgs.At(i), params.At(i).Constraint(), false)
			}
		}
	}
}

// checkConversion reports the first method of an interface that is a kernel of the type converted to it.
func (k *packageKernels) checkConversion(pass *analysis.Pass, pos token.Pos, from, to types.Type, out bool) {
	methods := types.NewMethodSet(from)
	for method := range to.Underlying().(*types.Interface).Methods() {
		selected := methods.Lookup(method.Pkg(), method.Name())
		if selected == nil { //mutate:equivalent false: a type converted to an interface has its methods
			continue
		}
		fn := selected.Obj().(*types.Func)
		ops := k.ops(fn)
		if len(ops) == 0 || fn.Pkg().Path() == strings.TrimSuffix(pass.Pkg.Path(), "_test") && !out {
			continue
		}
		name := func(t types.Type) string { return types.TypeString(t, (*types.Package).Name) }
		report(pass, bind.HiddenKernel, pos,
			"%s is converted to %s, through which calls of %s, the kernel of %s, bypass its generated wrapper: "+
				"implement the interface with the wrappers",
			name(from), name(to), fn.Name(), strings.Join(ops, ", "))
		return
	}
}

// isReturned reports whether an exported function returns the interface.
func isReturned(m *ssa.MakeInterface) bool {
	object := m.Parent().Object()
	for _, user := range *m.Referrers() {
		if _, ok := user.(*ssa.Return); ok && object != nil && object.Exported() {
			return true
		}
	}
	return false
}

// position returns where an interface is made or, as SSA records only explicit conversions, where it is first used.
func position(m *ssa.MakeInterface) token.Pos {
	pos := m.Pos()
	for _, user := range *m.Referrers() {
		pos = cmp.Or(pos, user.Pos())
	}
	return cmp.Or(pos, m.Parent().Pos())
}
