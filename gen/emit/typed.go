package emit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/opassert/opassert/gen/typed"
)

const libtorchPath = "github.com/opassert/opassert/asserts/libtorch"

// Typed gives the text of a file of typed functions over libtorch.
func Typed(pkg string, funcs []typed.Func, always bool) ([]byte, error) {
	w := newWriter(pkg, len(funcs))
	w.importName(libtorchPath, "libtorch")
	w.preamble(always)
	for _, f := range funcs {
		text := f.Plan.Op.Func.String()
		w.typed(f, text)
		w.table(f.OpVar, f.Plan, text)
	}
	return w.finish()
}

func (w *writer) typed(f typed.Func, text string) {
	w.line(0, "")
	w.line(0, "// ", f.Name, " calls ", f.Plan.QualifiedName(), ".")
	w.line(0, "//")
	w.line(0, "//\t", text)
	w.line(0, "func ", f.Name, "(", typedParams(f.Params), ") ", typedResults(f), " {")
	call := "libtorch.Invoke(enabled, &" + f.OpVar + typedArgs(f.Params) + ")"
	if len(f.Results) == 0 {
		w.line(1, "_, ", f.Err, " := ", call)
		w.line(1, "return ", f.Err)
		w.line(0, "}")
		return
	}
	w.line(1, f.Out, ", ", f.Err, " := ", call)
	w.line(1, "if ", f.Err, " == nil {")
	var names []string
	for i, r := range f.Results {
		w.line(2, r.Name, " = ", fmt.Sprintf(r.Take, f.Out+"["+strconv.Itoa(i)+"]"))
		names = append(names, r.Name)
	}
	w.line(1, "}")
	w.line(1, "return ", strings.Join(names, ", "), ", ", f.Err)
	w.line(0, "}")
}

func typedParams(params []typed.Param) string {
	var b strings.Builder
	for i, p := range params {
		b.WriteString(p.Name)
		last := i == len(params)-1
		if last || params[i+1].Type != p.Type {
			b.WriteString(" " + p.Type)
		}
		if !last {
			b.WriteString(", ")
		}
	}
	return b.String()
}

func typedResults(f typed.Func) string {
	if len(f.Results) == 0 {
		return "error"
	}
	var b strings.Builder
	for _, r := range f.Results {
		b.WriteString(r.Name + " " + r.Type + ", ")
	}
	return "(" + b.String() + f.Err + " error)"
}

func typedArgs(params []typed.Param) string {
	var b strings.Builder
	for _, p := range params {
		b.WriteString(", " + p.Value)
	}
	return b.String()
}
