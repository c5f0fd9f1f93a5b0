package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/gen/bind"
	"github.com/opassert/opassert/gen/plan"
)

// kernels is the list of the package's ops with the functions that run them.
func (w *writer) kernels(wrappers []bind.Wrapper) *jen.Statement {
	names := plan.NewNameSet()
	var rows []jen.Code
	for _, f := range wrappers {
		names[f.Name] = true
		rows = append(rows, line(jen.Values(field("Op", jen.Op("&").Id(f.OpVar)), field("Func", w.kernel(f)))))
	}
	list := names.Pick("Kernels", "")
	return comment(list+" are the ops of this package with their kernels.").Line().
		Var().Id(list).Op("=").Index().Qual(assertsPath, "Kernel").Add(lines(rows...))
}

// kernel is the function itself: kernels.Add, (*kernels.Library).Add.
func (w *writer) kernel(f bind.Wrapper) *jen.Statement {
	fn := f.Kernel.Func
	if recv := fn.Signature().Recv(); recv != nil {
		return jen.Parens(w.typ(recv.Type())).Dot(fn.Name())
	}
	return w.qual(fn.Pkg(), fn.Name())
}
