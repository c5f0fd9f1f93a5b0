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

// checkInterfaces reports where an object with kernels becomes an interface, or
// the type argument for one, that has their methods: who calls these does not see
// that they are kernels, and the object may as well be one that checks its calls.
// The kernels' own package may do so, but where it hands the interface out.
func (k *known) checkInterfaces(pass *analysis.Pass) {
	built := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA)
	for _, fn := range append(built.SrcFuncs, built.Pkg.Func("init")) {
		for _, block := range fn.Blocks {
			for _, instr := range block.Instrs {
				if m, ok := instr.(*ssa.MakeInterface); ok {
					k.checkConversion(pass, position(m), m.X.Type(), m.Type(), handedOut(m))
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

// checkConversion reports the first method of an interface that is a kernel of the
// type that is converted to it.
func (k *known) checkConversion(pass *analysis.Pass, pos token.Pos, from, to types.Type, out bool) {
	methods := types.NewMethodSet(from)
	for method := range to.Underlying().(*types.Interface).Methods() {
		selected := methods.Lookup(method.Pkg(), method.Name())
		if selected == nil { //mutate:equivalent false: what becomes an interface has its methods
			continue
		}
		fn := selected.Obj().(*types.Func)
		ops := k.ops(fn)
		if len(ops) == 0 || fn.Pkg().Path() == strings.TrimSuffix(pass.Pkg.Path(), "_test") && !out {
			continue
		}
		name := func(t types.Type) string { return types.TypeString(t, (*types.Package).Name) }
		report(pass, bind.HiddenKernel, pos, "%s becomes %s, through which %s, the kernel of %s, is called around its generated wrapper: implement the interface with the wrappers",
			name(from), name(to), fn.Name(), strings.Join(ops, ", "))
		return
	}
}

// handedOut reports whether an exported function returns the interface.
func handedOut(m *ssa.MakeInterface) bool {
	object := m.Parent().Object()
	for _, user := range *m.Referrers() {
		if _, ok := user.(*ssa.Return); ok && object != nil && object.Exported() {
			return true
		}
	}
	return false
}

// position is where an interface is made, or, as SSA keeps that of conversions
// alone that are written, where it is used first.
func position(m *ssa.MakeInterface) token.Pos {
	pos := m.Pos()
	for _, user := range *m.Referrers() {
		pos = cmp.Or(pos, user.Pos())
	}
	return cmp.Or(pos, m.Parent().Pos())
}
