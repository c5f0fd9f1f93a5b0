package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/slicesx"
)

// kernels returns the list of the package's ops with the functions that run them.
func (w *writer) kernels(wrappers []bind.Wrapper) *jen.Statement {
	names := plan.NewNameSet()
	var lines []jen.Code
	for _, f := range wrappers {
		names[f.Name] = true
		fields := []jen.Code{field("Op", addressOf(jen.Id(f.OpVar))), field("Func", w.kernel(f))}
		if f.Order != nil {
			order := slicesx.Map(f.Order, func(at int) jen.Code { return jen.Lit(at) })
			fields = append(fields, field("Order", literal(sliceOf(jen.Int()), order...)))
		}
		lines = append(lines, line(literal(jen.Null(), fields...)))
	}
	name := names.Pick("Kernels", "")
	typ := sliceOf(w.asserts("Kernel"))
	return rows(
		comment(name+" are the ops of this package with their kernels."),
		jen.Var().Id(name).Op("=").Add(tight(typ, block(1, lines...))),
	)
}

// kernel returns the function itself: kernels.Add, (*kernels.Library).Add.
func (w *writer) kernel(f bind.Wrapper) *jen.Statement {
	fn := f.Kernel.Func
	if recv := fn.Signature().Recv(); recv != nil {
		return selector(parens(w.typ(recv.Type())), fn.Name())
	}
	return w.qual(fn.Pkg(), fn.Name())
}
