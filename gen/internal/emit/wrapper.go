package emit

import (
	"go/types"
	"slices"
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
	names := slicesx.Map(f.Results, func(r bind.Result) jen.Code { return jen.Id(r.Name) })
	if f.Err != "" {
		names = append(names, jen.Id(f.Err))
	}
	kernel := w.kernelCall(f)
	if len(names) > 0 {
		assign := ":="
		if f.NamedResults {
			assign = "="
		}
		kernel = list(names...).Op(assign).Add(kernel)
	}
	body := []jen.Code{jen.Id(f.Call).Op(":=").Add(w.record(f))}
	args := jen.Nil()
	lines := w.observeEach(f, slicesx.Map(f.Args, ofParam))
	if len(lines) > 0 {
		args = jen.Id(f.Arguments)
		body = append(body, jen.Add(args).Op(":=").Add(closure(lines)))
	}
	body = append(body, begin(f))
	if len(lines) > 0 {
		body = append(body, method(jen.Id(f.Call), "Before", args))
	}
	body = append(body, kernel, w.after(f, args))
	if len(names) > 0 {
		body = append(body, jen.Return(list(names...)))
	}
	return body
}

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

// record returns the call with its empty record.
func (w *writer) record(f bind.Wrapper) *jen.Statement {
	made := call(jen.Id("make"), sliceOf(w.asserts("Observation")), jen.Lit(recordSize(f)))
	return literal(w.asserts("Call"), field("Record", made))
}

func begin(f bind.Wrapper) *jen.Statement {
	if f.Context != "" {
		return method(jen.Id(f.Call), "BeginContext", jen.Id(f.Context), addressOf(jen.Id(f.OpVar)))
	}
	return method(jen.Id(f.Call), "Begin", addressOf(jen.Id(f.OpVar)))
}

// after returns the end of the call's record, without results if the kernel failed.
func (w *writer) after(f bind.Wrapper, args *jen.Statement) *jen.Statement {
	results := jen.Nil()
	lines := w.observeEach(f, slicesx.Map(f.Results, ofResult))
	if len(lines) > 0 {
		results = closure(lines)
	}
	if f.Err != "" && len(lines) > 0 {
		return method(jen.Id(f.Call), "AfterError", jen.Id(f.Err), args, results)
	}
	return method(jen.Id(f.Call), "After", args, results)
}

// listReserve is the number of tensors of each list that the record has room for before it moves to the heap.
const listReserve = 16

func recordSize(f bind.Wrapper) int {
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

// A value is a parameter or a result.
type value struct {
	name string
	typ  types.Type
	role bind.Role
}

func ofParam(p bind.Param) value   { return value{p.Name, p.Type, p.Role} }
func ofResult(r bind.Result) value { return value{r.Name, r.Type, r.Role} }

// A statement is a line with its text, or a block without one.
type statement struct {
	code jen.Code
	text string
}

// observeEach returns the statements that observe the tensors among values.
func (w *writer) observeEach(f bind.Wrapper, values []value) []statement {
	var lines []statement
	add := func(text string) { lines = append(lines, statement{jen.Op(text), text}) }
	for _, v := range values {
		switch v.role {
		case bind.One, bind.Pointer:
			add(w.observe(f, v.name, v.role))
		case bind.List:
			if _, ok := v.typ.Underlying().(*types.Array); ok {
				v.name += "[:]"
			}
			add("observeList(&" + f.Call + ", " + v.name + ")")
		case bind.PointerList:
			add(f.Call + ".List(len(" + v.name + "))")
			each := jen.For(list(jen.Id("_"), jen.Id(f.Elem)).Op(":=").Range().Id(v.name))
			lines = append(lines, statement{code: each.Add(block(3, jen.Op(w.observe(f, f.Elem, bind.Pointer))))})
		}
	}
	return lines
}

func (w *writer) observe(f bind.Wrapper, name string, role bind.Role) string {
	switch {
	case role == bind.Pointer:
		return f.Call + ".Observe(" + w.imports[assertsPath] + ".Optional(" + name + "))"
	case f.Observer != nil:
		return "observe(&" + f.Call + ", " + name + ")"
	case types.IsInterface(f.Tensor):
		return f.Call + ".Observe(" + name + ")"
	}
	return name + ".Observe(" + f.Call + ".Next(" + name + "))"
}

// lists declares the function that observes a list, if a wrapper needs it: tensor by tensor, so that the
// compiler knows the method in every call.
func (w *writer) lists(wrappers []bind.Wrapper) {
	for _, f := range wrappers {
		values := append(slicesx.Map(f.Args, ofParam), slicesx.Map(f.Results, ofResult)...)
		if !slices.ContainsFunc(values, func(v value) bool { return v.role == bind.List }) {
			continue
		}
		f.Call = "call"
		record := jen.Id("call").Add(pointerTo(w.asserts("Call")))
		params := call(jen.Id("observeList"), record, jen.Id("list").Add(sliceOf(w.typ(f.Tensor))))
		each := jen.For(list(jen.Id("_"), jen.Id("t")).Op(":=").Range().Id("list"))
		one := jen.Op(strings.Replace(w.observe(f, "t", bind.One), "&", "", 1))
		w.add(rows(
			comment("observeList records the tensors of a list for the checks of a call."),
			jen.Func().Add(params).Add(block(1, jen.Op("call.List(len(list))"), each.Add(block(2, one)))),
		))
		return
	}
}

// closure returns a function without parameters and results, on one line where gofmt leaves it there.
func closure(lines []statement) *jen.Statement {
	const most, statements = 100 - len("func()"), 5
	width := 2 * (len(lines) - 1)
	codes := make([]jen.Code, len(lines))
	for i, l := range lines {
		width += len(l.text)
		codes[i] = l.code
		if l.text == "" {
			width = most + 1
		}
	}
	head := tight(jen.Func(), parens())
	if width > most || len(lines) > statements {
		return head.Add(block(2, codes...))
	}
	return head.Add(jen.Custom(jen.Options{Open: "{ ", Close: " }", Separator: "; "}, codes...))
}
