package emit

import (
	"go/types"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/gen/bind"
)

// wrapper is the function: the bare call, and the call between the
// observations before and after it.
func (w *writer) wrapper(f bind.Wrapper) *jen.Statement {
	summary := f.Name + " calls " + kernelName(f.Kernel.Func) + checked(f.Plan)
	return doc(summary, f.Plan.Op.Func.String()).
		Func().Id(f.Name).Params(w.wrapperParams(f)...).Params(w.wrapperResults(f)...).BlockFunc(func(g *jen.Group) {
		g.If(jen.Op("!").Id("enabled")).Block(w.bare(f)...)
		begin(g, f)
		observeParams(g, f)
		if names := resultNames(f); len(names) > 0 {
			g.List(names...).Op(":=").Add(w.call(f))
		} else {
			g.Add(w.call(f))
		}
		g.Id(f.Call).Dot("Returned").Call()
		observeParams(g, f)
		observeResults(g, f)
		g.Id(f.Call).Dot("Judge").Call()
		if names := resultNames(f); len(names) > 0 {
			g.Return(names...)
		}
	})
}

func (w *writer) wrapperParams(f bind.Wrapper) []jen.Code {
	var list []parameter
	for _, p := range f.Params {
		list = append(list, parameter{p.Name, p.Type, p.Variadic})
	}
	return w.params(list)
}

func (w *writer) wrapperResults(f bind.Wrapper) []jen.Code {
	var list []jen.Code
	for _, r := range f.Results {
		list = append(list, w.typ(r.Type))
	}
	if f.Err != "" {
		list = append(list, jen.Error())
	}
	return list
}

// kernelName is how a reader finds the kernel: kernels.Add, (*kernels.Library).Add.
func kernelName(fn *types.Func) string {
	byName := func(p *types.Package) string { return p.Name() }
	if recv := fn.Signature().Recv(); recv != nil {
		return "(" + types.TypeString(recv.Type(), byName) + ")." + fn.Name()
	}
	return fn.Pkg().Name() + "." + fn.Name()
}

// call calls the kernel with the wrapper's parameters.
func (w *writer) call(f bind.Wrapper) *jen.Statement {
	fn, params := f.Kernel.Func, f.Params
	target := w.qual(fn.Pkg(), fn.Name())
	if fn.Signature().Recv() != nil {
		target = jen.Id(params[0].Name).Dot(fn.Name())
		params = params[1:]
	}
	args := make([]jen.Code, len(params))
	for i, p := range params {
		args[i] = jen.Id(p.Name)
		if p.Variadic {
			args[i] = jen.Id(p.Name).Op("...")
		}
	}
	return target.Call(args...)
}

func (w *writer) bare(f bind.Wrapper) []jen.Code {
	if len(f.Results) > 0 || f.Err != "" {
		return []jen.Code{jen.Return(w.call(f))}
	}
	return []jen.Code{w.call(f), jen.Return()}
}

func resultNames(f bind.Wrapper) []jen.Code {
	var names []jen.Code
	for _, r := range f.Results {
		names = append(names, jen.Id(r.Name))
	}
	if f.Err != "" {
		names = append(names, jen.Id(f.Err))
	}
	return names
}

// begin starts the record of the call.
func begin(g *jen.Group, f bind.Wrapper) {
	g.Var().Id(f.Buf).Index(jen.Lit(bufferSize(f))).Qual(assertsPath, "Observation")
	g.Id(f.Call).Op(":=").Qual(assertsPath, "NewCall").Call(jen.Id(f.Buf).Index(jen.Op(":")))
	op := jen.Op("&").Id(f.OpVar)
	if f.Context != "" {
		g.Id(f.Call).Dot("BeginContext").Call(jen.Id(f.Context), op)
	} else {
		g.Id(f.Call).Dot("Begin").Call(op)
	}
}

// listReserve is how many tensors of each list the record has room for before
// it moves to the heap.
const listReserve = 16

func bufferSize(f bind.Wrapper) int {
	n := 0
	for _, p := range f.Params {
		n += 2 * room(p.Role)
	}
	for _, r := range f.Results {
		n += room(r.Role)
	}
	return n
}

func room(r bind.Role) int {
	switch r {
	case bind.One, bind.Pointer:
		return 1
	case bind.List, bind.PointerList:
		return listReserve + 1
	}
	return 0
}

func observeParams(g *jen.Group, f bind.Wrapper) {
	for _, p := range f.Params {
		observe(g, f, "Arg", p.Name, p.Role)
	}
}

// observeResults leaves the results of a failed call alone.
func observeResults(g *jen.Group, f bind.Wrapper) {
	results := func(g *jen.Group) {
		for _, r := range f.Results {
			observe(g, f, "Result", r.Name, r.Role)
		}
	}
	if f.Err != "" && f.Plan.Results() {
		g.If(jen.Id(f.Err).Op("==").Nil()).BlockFunc(results)
	} else {
		results(g)
	}
}

// observe records one value, a list tensor by tensor: so the compiler sees the
// tensor's type at every call.
func observe(g *jen.Group, f bind.Wrapper, method, name string, role bind.Role) {
	record := func(g *jen.Group, tensor *jen.Statement) { g.Id(f.Call).Dot(method).Call(tensor) }
	switch role {
	case bind.One:
		record(g, jen.Id(name))
	case bind.Pointer:
		record(g, optional(name))
	case bind.List:
		observeList(g, f, name, func(g *jen.Group) { record(g, jen.Id(f.Elem)) })
	case bind.PointerList:
		observeList(g, f, name, func(g *jen.Group) { record(g, optional(f.Elem)) })
	}
}

func observeList(g *jen.Group, f bind.Wrapper, name string, each func(*jen.Group)) {
	g.Id(f.Call).Dot("List").Call(jen.Len(jen.Id(name)))
	g.For(jen.List(jen.Id("_"), jen.Id(f.Elem)).Op(":=").Range().Id(name)).BlockFunc(each)
}

func optional(name string) *jen.Statement {
	return jen.Qual(assertsPath, "Optional").Call(jen.Id(name))
}
