package emit

import (
	"go/types"

	"github.com/opassert/opassert/gen/internal/bind"
)

// observed declares a type of this package for the tensor type of another one, so that it can have
// a method. Converting a pointer costs nothing.
func (w *writer) observed(o *bind.Observer) []string {
	tensor := w.typ(o.Tensor())
	foreign := w.typ(o.Tensor().Underlying().(*types.Pointer).Elem())
	observe := w.qual(o.Func.Pkg(), o.Func.Name())
	method := call("(t *observed) Observe", "o *"+w.asserts("Observation"), "level "+w.asserts("Level"))
	return []string{
		rows(
			comment("observed is what the checks look at through "+kernelName(o.Func)+"."),
			"type observed "+foreign,
		),
		function(method, "", "if t != nil "+block(2, call(observe, "("+tensor+")(t)", "o", "level"))),
		rows(
			comment("observe records a tensor for the checks of a call."),
			function(call("observe", "call *"+w.asserts("Call"), "t "+tensor), "",
				"(*observed)(t).Observe(call.Next((*observed)(t)))"),
		),
	}
}
