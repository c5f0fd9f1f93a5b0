package schema

import (
	"go/token"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/internal/yamlfile"
)

// ufunc reads the loops from which torchgen makes kernels: one loop, or loops by key.
//
// Source: torchgen/model.py, UfuncKey and UfuncInnerLoop.
func (r *reader) ufunc(e *entry) {
	n := e.values[keyUfuncInnerLoop]
	switch {
	case n == nil:
		return
	case n.Kind == yaml.MappingNode:
		if len(n.Content) == 0 {
			return
		}
		loops, _ := r.Mapping(n, "ufunc_inner_loop", ufuncKeys)
		for _, loop := range loops {
			if loop != nil {
				r.ufuncLoop(loop)
			}
		}
	default:
		r.ufuncLoop(n)
	}
	if !e.structured {
		r.Report(n, "ufunc_inner_loop needs structured: True")
	}
	for _, k := range e.kernels {
		if k.key == "CPU" || k.key == "CUDA" {
			r.ReportAt(k.pos, "the kernel for %s is made from ufunc_inner_loop: delete one", k.key)
		}
	}
}

var ufuncKeys = []string{"CUDAFunctor", "CUDAFunctorOnOther", "CUDAFunctorOnSelf", "CPUScalar", "CPUVector", "ScalarOnly", "Generic"}

// ufuncLoop reads "add (AllAndComplex, BFloat16)". Scalar types differ between versions and forks,
// so any name is accepted as one.
func (r *reader) ufuncLoop(n *yaml.Node) {
	if !yamlfile.IsText(n) {
		r.ReportKind(n, "a loop, name (types)")
		return
	}
	name, types, _ := strings.Cut(n.Value, " ")
	if name == "" || len(types) < 2 || types[0] != '(' || types[len(types)-1] != ')' {
		r.Report(n, "expected a loop, name (types), found %q", yamlfile.Clip(n.Value))
		return
	}
	for typ := range strings.SplitSeq(types[1:len(types)-1], ", ") {
		if !token.IsIdentifier(typ) {
			r.Report(n, "%q is not a scalar type", yamlfile.Clip(typ))
		}
	}
}

// precomputed reads the values that a structured kernel computes in advance: lines "argument ->
// declarations", and possibly a last line of further declarations.
//
// Source: torchgen/model.py, Precompute.parse.
func (r *reader) precomputed(e *entry) {
	n := e.values[keyPrecomputed]
	list := r.texts(n, "precomputed: a list", "argument -> declarations")
	if !e.structured && n != nil && n.Kind == yaml.SequenceNode {
		r.Report(n, "precomputed needs structured: True")
	}
	for _, item := range list {
		arg, decls, found := strings.Cut(item.Value, " -> ")
		switch {
		case !found && item == n.Content[len(n.Content)-1]:
			r.declarations(item, 0)
		case !found:
			r.Report(item, "only the last line of precomputed may have no argument ->")
		case strings.Contains(arg, " ") || strings.Contains(decls, " -> "):
			r.Report(item, "expected argument -> declarations")
		default:
			r.declarations(item, len(arg)+len(" -> "))
		}
	}
}

// declarations reads arguments with commas between, from an offset on.
func (r *reader) declarations(n *yaml.Node, off int) {
	p := parser{text: n.Value, off: off, dialect: native, at: r.Inside(n)}
	var args []string
	for more := true; more; more = p.accept(",") {
		a := p.argument()
		if strings.ToUpper(a.Name) == a.Name {
			p.fail(off, "%s is named like a template parameter: use lower case", a.Name)
		}
		args = append(args, a.String())
	}
	if p.off < len(p.text) {
		p.expected(`","`)
	}
	p.checkLossless(n.Value[:off] + strings.Join(args, ", "))
	if p.err != nil {
		r.Errs.Add(p.err.Pos, p.err.Msg)
	}
}
