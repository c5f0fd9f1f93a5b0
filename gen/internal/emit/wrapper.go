package emit

import (
	"go/types"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/internal/slicesx"
)

// wrapper returns the function of the debug build: the call between the observations before and after it.
func (w *writer) wrapper(f bind.Wrapper) *jen.Statement {
	return w.function(f, f.Name+" calls "+kernelName(f.Kernel.Func)+checked(f.Plan), w.wrapperBody(f))
}

// release returns the function of the release build: the bare call.
func (w *writer) release(f bind.Wrapper) *jen.Statement {
	bare := w.kernelCall(f)
	if len(f.Results) > 0 || f.Err != "" {
		bare = jen.Return(bare)
	}
	return w.function(f, f.Name+" calls "+kernelName(f.Kernel.Func)+".", []jen.Code{bare})
}

func (w *writer) function(f bind.Wrapper, summary string, body []jen.Code) *jen.Statement {
	signature := jen.Func().Add(call(jen.Id(f.Name), w.params(f.Params)...)).Add(w.wrapperResults(f))
	function := documented(summary, f.Plan.Op.Func.String(), signature.Add(block(1, body...)))
	return rows(append(kernelDoc(f), function)...)
}

// kernelDoc returns the kernel's own comment, for the wrapper.
func kernelDoc(f bind.Wrapper) []jen.Code {
	text := strings.TrimSpace(f.Kernel.Doc)
	if text == "" {
		return nil
	}
	if rest, ok := strings.CutPrefix(text, f.Kernel.Func.Name()+" "); ok {
		text = f.Name + " " + rest
	}
	var lines []jen.Code
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "\t") {
			lines = append(lines, jen.Comment("//\t"+printable(strings.TrimPrefix(line, "\t"))))
		} else {
			lines = append(lines, comment(line))
		}
	}
	return append(lines, comment(""))
}

// kernelName returns the name by which a reader finds the kernel: kernels.Add, (*kernels.Library).Add.
func kernelName(fn *types.Func) string {
	byName := func(p *types.Package) string { return p.Name() }
	if recv := fn.Signature().Recv(); recv != nil {
		return "(" + types.TypeString(recv.Type(), byName) + ")." + fn.Name()
	}
	return fn.Pkg().Name() + "." + fn.Name()
}

func (w *writer) wrapperResults(f bind.Wrapper) *jen.Statement {
	var all []jen.Code
	spell := func(name string, typ *jen.Statement) {
		if f.NamedResults {
			typ = jen.Id(name).Add(typ)
		}
		all = append(all, typ)
	}
	for _, r := range f.Results {
		spell(r.Name, w.typ(r.Type))
	}
	if f.Err != "" {
		spell(f.Err, jen.Error())
	}
	if f.NamedResults {
		return parens(all...)
	}
	return results(all...)
}

func (w *writer) wrapperBody(f bind.Wrapper) []jen.Code {
	names := resultNames(f)
	kernel := w.kernelCall(f)
	if len(names) > 0 {
		assign := ":="
		if f.NamedResults {
			assign = "="
		}
		kernel = list(names...).Op(assign).Add(kernel)
	}
	body := append(w.begin(f), w.observeParams(1, f, "Arg")...)
	body = append(body, kernel, record(f, "Returned"))
	after := append(w.observeParams(2, f, "Arg"), w.observeResults(2, f, "Result")...)
	keep := append(w.observeParams(2, f, "Keep"), w.observeResults(2, f, "Keep")...)
	if len(after) > 0 {
		guarded := append([]jen.Code{jen.Defer().Add(record(f, "Recover"))}, after...)
		body = append(body, call(tight(jen.Func(), parens()).Add(block(2, guarded...))),
			jen.If(record(f, "Keeps")).Add(block(2, keep...)))
	}
	body = append(body, record(f, "Judge"))
	if len(names) > 0 {
		body = append(body, jen.Return(list(names...)))
	}
	return body
}

// kernelCall calls the kernel with the wrapper's parameters.
func (w *writer) kernelCall(f bind.Wrapper) *jen.Statement {
	fn, params := f.Kernel.Func, f.Params
	target := w.qual(fn.Pkg(), fn.Name())
	if fn.Signature().Recv() != nil {
		target = selector(jen.Id(params[0].Name), fn.Name())
		params = params[1:]
	}
	args := make([]jen.Code, len(params))
	for i, p := range params {
		args[i] = jen.Id(p.Name)
		if p.Variadic {
			args[i] = spread(jen.Id(p.Name))
		}
	}
	return call(target, args...)
}

func resultNames(f bind.Wrapper) []jen.Code {
	names := slicesx.Map(f.Results, func(r bind.Result) jen.Code { return jen.Id(r.Name) })
	if f.Err != "" {
		names = append(names, jen.Id(f.Err))
	}
	return names
}

// begin returns the start of the call's record.
func (w *writer) begin(f bind.Wrapper) []jen.Code {
	observations := tight(jen.Index(jen.Lit(bufferSize(f))), w.asserts("Observation"))
	all := tight(jen.Id(f.Buf), jen.Index(jen.Op(":")))
	start := record(f, "Begin", addressOf(jen.Id(f.OpVar)))
	if f.Context != "" {
		start = record(f, "BeginContext", jen.Id(f.Context), addressOf(jen.Id(f.OpVar)))
	}
	return []jen.Code{
		jen.Var().Id(f.Buf).Add(observations),
		jen.Id(f.Call).Op(":=").Add(call(w.asserts("NewCall"), all)),
		start,
	}
}

func record(f bind.Wrapper, name string, args ...jen.Code) *jen.Statement {
	return method(jen.Id(f.Call), name, args...)
}

// listReserve is the number of tensors of each list that the record has room for before it moves to the heap.
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

func (w *writer) observeParams(depth int, f bind.Wrapper, method string) []jen.Code {
	var lines []jen.Code
	for _, p := range f.Args {
		lines = append(lines, w.observe(depth, f, method, p.Name, p.Role)...)
	}
	return lines
}

// observeResults records no results of a failed call.
func (w *writer) observeResults(depth int, f bind.Wrapper, method string) []jen.Code {
	mayFail := f.Err != ""
	if mayFail {
		depth++
	}
	var lines []jen.Code
	for _, r := range f.Results {
		lines = append(lines, w.observe(depth, f, method, r.Name, r.Role)...)
	}
	if mayFail && len(lines) > 0 {
		return []jen.Code{jen.If(jen.Id(f.Err).Op("==").Nil()).Add(block(depth, lines...))}
	}
	return lines
}

// observe records one value, a list tensor by tensor, so that the compiler knows the tensor's type in every call.
func (w *writer) observe(depth int, f bind.Wrapper, method, name string, role bind.Role) []jen.Code {
	switch role {
	case bind.One:
		return []jen.Code{record(f, method, tensor(f, name))}
	case bind.Pointer:
		return []jen.Code{record(f, method, call(w.asserts("Optional"), jen.Id(name)))}
	case bind.List:
		return w.observeList(depth, f, method, name, bind.One)
	case bind.PointerList:
		return w.observeList(depth, f, method, name, bind.Pointer)
	}
	return nil
}

func (w *writer) observeList(depth int, f bind.Wrapper, method, name string, elem bind.Role) []jen.Code {
	each := w.observe(depth+1, f, method, f.Elem, elem)
	lines := []jen.Code{
		jen.For(list(jen.Id("_"), jen.Id(f.Elem)).Op(":=").Range().Id(name)).Add(block(depth+1, each...)),
	}
	if method == "Keep" { // the record already has these tensors, even those of lists
		return lines
	}
	return append([]jen.Code{record(f, "List", call(jen.Id("len"), jen.Id(name)))}, lines...)
}
