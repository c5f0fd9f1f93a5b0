package emit

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/gen/bind"
)

// params writes the parameter list as Go does by hand: names that share a
// type share its mention.
func (w *writer) params(f bind.Wrapper) string {
	var b strings.Builder
	for i, p := range f.Params {
		b.WriteString(p.Name)
		last := i == len(f.Params)-1
		if !last && !f.Params[i+1].Variadic && types.Identical(p.Type, f.Params[i+1].Type) {
			b.WriteString(", ")
			continue
		}
		b.WriteString(" ")
		if p.Variadic {
			b.WriteString("..." + w.typeName(p.Type.(*types.Slice).Elem()))
		} else {
			b.WriteString(w.typeName(p.Type))
		}
		if !last {
			b.WriteString(", ")
		}
	}
	return b.String()
}

func (w *writer) results(f bind.Wrapper) string {
	var list []string
	for _, r := range f.Results {
		list = append(list, w.typeName(r.Type))
	}
	if f.Err != "" {
		list = append(list, "error")
	}
	switch len(list) {
	case 0:
		return ""
	case 1:
		return " " + list[0]
	}
	return " (" + strings.Join(list, ", ") + ")"
}

func (w *writer) kernelName(f bind.Wrapper) string {
	fn := f.Kernel.Func
	if recv := fn.Signature().Recv(); recv != nil {
		name := w.typeName(recv.Type())
		return fmt.Sprintf("(%s).%s", name, fn.Name())
	}
	return w.kernels + "." + fn.Name()
}

func (w *writer) kernelCall(f bind.Wrapper) string {
	params := f.Params
	target := ""
	if f.Kernel.Func.Signature().Recv() != nil {
		target = params[0].Name + "." + f.Kernel.Func.Name()
		params = params[1:]
	} else {
		target = w.kernelName(f)
	}
	args := make([]string, len(params))
	for i, p := range params {
		args[i] = p.Name
		if p.Variadic {
			args[i] += "..."
		}
	}
	return target + "(" + strings.Join(args, ", ") + ")"
}

// typeCode spells a type with jennifer, which derives the imports.
func (w *writer) typeCode(t types.Type) *jen.Statement {
	switch t := t.(type) {
	case *types.Basic:
		return jen.Id(t.Name())
	case *types.Named:
		return w.named(t.Obj(), t.TypeArgs())
	case *types.Alias:
		return w.named(t.Obj(), t.TypeArgs())
	case *types.Pointer:
		return jen.Op("*").Add(w.typeCode(t.Elem()))
	case *types.Slice:
		return jen.Index().Add(w.typeCode(t.Elem()))
	case *types.Array:
		return jen.Index(jen.Lit(int(t.Len()))).Add(w.typeCode(t.Elem()))
	case *types.Map:
		return jen.Map(w.typeCode(t.Key())).Add(w.typeCode(t.Elem()))
	case *types.Chan:
		return w.channel(t)
	case *types.Signature:
		return w.signature(t)
	}
	panic(fmt.Sprintf("emit: a type literal %v", t)) // bind refuses it
}

func (w *writer) named(obj *types.TypeName, args *types.TypeList) *jen.Statement {
	s := jen.Id(obj.Name())
	if obj.Pkg() != nil {
		w.file.ImportName(obj.Pkg().Path(), obj.Pkg().Name())
		s = jen.Qual(obj.Pkg().Path(), obj.Name())
	}
	if args.Len() == 0 {
		return s
	}
	var list []jen.Code
	for t := range args.Types() {
		list = append(list, w.typeCode(t))
	}
	return s.Types(list...)
}

func (w *writer) channel(t *types.Chan) *jen.Statement {
	switch t.Dir() {
	case types.SendOnly:
		return jen.Chan().Op("<-").Add(w.typeCode(t.Elem()))
	case types.RecvOnly:
		return jen.Op("<-").Chan().Add(w.typeCode(t.Elem()))
	}
	return jen.Chan().Add(w.typeCode(t.Elem()))
}

func (w *writer) signature(t *types.Signature) *jen.Statement {
	list := func(tuple *types.Tuple) []jen.Code {
		var codes []jen.Code
		for v := range tuple.Variables() {
			codes = append(codes, w.typeCode(v.Type()))
		}
		return codes
	}
	return jen.Func().Params(list(t.Params())...).Params(list(t.Results())...)
}
