package emit

import (
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/internal/slicesx"
)

// release returns the function of the release build: the bare call.
func (w *writer) release(f bind.Wrapper) string {
	bare := w.kernelCall(f)
	if len(f.Results) > 0 || f.Err != "" {
		bare = "return " + bare
	}
	return w.function(f, f.Name+" calls "+kernelName(f.Kernel.Func)+".", []string{bare})
}

func (w *writer) function(f bind.Wrapper, summary string, body []string) string {
	signature, results := call(f.Name, w.params(f.Params)...), w.wrapperResults(f)
	text := documented(summary, f.Plan.Op.Func.String(), function(signature, results, body...))
	return rows(append(kernelDoc(f), text)...)
}

// kernelDoc returns the kernel's own comment, for the wrapper.
func kernelDoc(f bind.Wrapper) []string {
	text := strings.TrimSpace(f.Kernel.Doc)
	if text == "" {
		return nil
	}
	if rest, ok := strings.CutPrefix(text, f.Kernel.Func.Name()+" "); ok {
		text = f.Name + " " + rest
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "\t") {
			lines = append(lines, "//\t"+printable(strings.TrimPrefix(line, "\t")))
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

func (w *writer) wrapperResults(f bind.Wrapper) string {
	var all []string
	spell := func(name, typ string) {
		if f.NamedResults {
			typ = name + " " + typ
		}
		all = append(all, typ)
	}
	for _, r := range f.Results {
		spell(r.Name, w.typ(r.Type))
	}
	if f.Err != "" {
		spell(f.Err, "error")
	}
	return call("", all...)
}

// wrapperBody is that of the debug build: the call between the observations before and after it.
func (w *writer) wrapperBody(f bind.Wrapper) []string {
	names := slicesx.Map(f.Results, func(r bind.Param) string { return r.Name })
	if f.Err != "" {
		names = append(names, f.Err)
	}
	kernel := w.kernelCall(f)
	if len(names) > 0 {
		assign := " := "
		if f.NamedResults {
			assign = " = "
		}
		kernel = list(names...) + assign + kernel
	}
	record := call("make", "[]"+w.asserts("Observation"), strconv.Itoa(recordSize(f)))
	body := []string{f.Call + " := " + w.asserts("Call") + "{Record: " + record + "}"}
	args := "nil"
	lines := w.observeEach(f, f.Args)
	if len(lines) > 0 {
		args = f.Arguments
		body = append(body, args+" := "+closure(lines))
	}
	if f.Context != "" {
		body = append(body, call(f.Call+".BeginContext", f.Context, "&"+f.OpVar))
	} else {
		body = append(body, call(f.Call+".Begin", "&"+f.OpVar))
	}
	if len(lines) > 0 {
		body = append(body, call(f.Call+".Before", args))
	}
	body = append(body, kernel, w.after(f, args))
	if len(names) > 0 {
		body = append(body, "return "+list(names...))
	}
	return body
}

func (w *writer) kernelCall(f bind.Wrapper) string {
	fn, params := f.Kernel.Func, f.Params
	target := w.qual(fn.Pkg(), fn.Name())
	if fn.Signature().Recv() != nil {
		target = params[0].Name + "." + fn.Name()
		params = params[1:]
	}
	return call(target, slicesx.Map(params, func(p bind.Param) string {
		if p.Variadic {
			return p.Name + "..."
		}
		return p.Name
	})...)
}

// after returns the end of the call's record, without results if the kernel failed.
func (w *writer) after(f bind.Wrapper, args string) string {
	lines := w.observeEach(f, f.Results)
	switch {
	case len(lines) == 0:
		return call(f.Call+".After", args, "nil")
	case f.Err != "":
		return call(f.Call+".AfterError", f.Err, args, closure(lines))
	}
	return call(f.Call+".After", args, closure(lines))
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

// observeEach returns the statements that observe the tensors among parameters or results.
func (w *writer) observeEach(f bind.Wrapper, values []bind.Param) []string {
	var lines []string
	for _, v := range values {
		switch v.Role {
		case bind.One, bind.Pointer:
			lines = append(lines, w.observe(f, v.Name, v.Role))
		case bind.List:
			if _, ok := v.Type.Underlying().(*types.Array); ok {
				v.Name += "[:]"
			}
			lines = append(lines, call("observeList", "&"+f.Call, v.Name))
		case bind.PointerList:
			each := "for _, " + f.Elem + " := range " + v.Name + " "
			lines = append(lines, call(f.Call+".List", call("len", v.Name)), each+block(3, w.observe(f, f.Elem, bind.Pointer)))
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
		isList := func(v bind.Param) bool { return v.Role == bind.List }
		if !slices.ContainsFunc(slices.Concat(f.Args, f.Results), isList) {
			continue
		}
		f.Call = "call"
		signature := call("observeList", "call *"+w.asserts("Call"), "list []"+w.typ(f.Tensor))
		one := strings.Replace(w.observe(f, "t", bind.One), "&", "", 1)
		w.add(rows(
			comment("observeList records the tensors of a list for the checks of a call."),
			function(signature, "", "call.List(len(list))", "for _, t := range list "+block(2, one)),
		))
		return
	}
}

// closure returns a function without parameters and results, on one line where gofmt leaves it there.
func closure(lines []string) string {
	const most, statements = 100 - len("func()"), 5
	one := strings.Join(lines, "; ")
	if len(one) > most || len(lines) > statements || strings.Contains(one, "\n") {
		return "func() " + block(2, lines...)
	}
	return "func() { " + one + " }"
}
