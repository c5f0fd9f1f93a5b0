package emit

import (
	"go/types"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/gen/internal/bind"
)

// observed declares a type of this package for the tensor type of another one, so that it can have
// a method. Converting a pointer costs nothing.
func (w *writer) observed(o *bind.Observer) []*jen.Statement {
	tensor := w.typ(o.Tensor())
	foreign := w.typ(o.Tensor().Underlying().(*types.Pointer).Elem())
	observe := w.qual(o.Func.Pkg(), o.Func.Name())
	receiver := parens(jen.Id("t").Add(pointerTo(jen.Id("observed"))))
	return []*jen.Statement{
		rows(
			comment("observed is what the checks look at through "+kernelName(o.Func)+"."),
			jen.Type().Id("observed").Add(foreign),
		),
		jen.Func().Add(receiver).Add(call(jen.Id("Observe"),
			jen.Id("o").Add(pointerTo(w.asserts("Observation"))), jen.Id("level").Add(w.asserts("Level")),
		)).Add(block(1, jen.If(jen.Id("t").Op("!=").Nil()).Add(block(2,
			call(observe, call(parens(tensor), jen.Id("t")), jen.Id("o"), jen.Id("level")),
		)))),
		rows(
			comment("observe records a tensor for the checks of a call."),
			jen.Func().Add(call(jen.Id("observe"), jen.Id("call").Add(pointerTo(w.asserts("Call"))), jen.Id("t").Add(tensor))).
				Add(block(1, jen.Op("(*observed)(t).Observe(call.Next((*observed)(t)))"))),
		),
	}
}
