package start

import (
	"errors"
	"fmt"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A kernel calls one function of the library.
type kernel struct {
	name   string // of the function
	Schema string // of its types and names: what else it shares and writes is for the author to say
	Op     string
	Text   string
	Tensor string // the Go type of its tensors: a slice, or a pointer to a struct
	Slice  string // that slice, or ""
	form
}

// A form is how tensors of a type are observed and made.
type form struct{ Element, Storage, Make, Dims string }

// kernels returns a kernel for each function and method of a package that has tensors, or for the one with a name.
// All are of the type of tensors that most have.
func kernels(pkg *types.Package, name string) (fits []kernel, err error) {
	err = errors.New("no function takes tensors: slices of numbers, or pointers to structs of the package with one")
	if name != "" {
		err = fmt.Errorf("no exported function %s: want Name, or Type.Name of a method, -func", name)
	}
	consider := func(f *types.Func, typ string) {
		if !f.Exported() || name != "" && name != typ+f.Name() {
			return
		}
		k, unfit := newKernel(pkg, f)
		if unfit == nil {
			fits = append(fits, k)
		} else if name != "" {
			err = fmt.Errorf("%s: %w: choose another, -func", name, unfit)
		}
	}
	for _, object := range pkg.Scope().Names() {
		switch object := pkg.Scope().Lookup(object).(type) {
		case *types.Func:
			consider(object, "")
		case *types.TypeName:
			if named, ok := object.Type().(*types.Named); ok && object.Exported() && !object.IsAlias() {
				for f := range named.Methods() {
					consider(f, object.Name()+".")
				}
			}
		}
	}
	if len(fits) == 0 {
		return nil, err
	}
	most, number, ops := "", map[string]int{}, map[string]bool{"observe": true, "from_spec": true, "slice": true}
	for _, k := range fits {
		if number[k.Tensor]++; number[k.Tensor] > number[most] {
			most = k.Tensor
		}
	}
	return slices.DeleteFunc(fits, func(k kernel) bool {
		unfit := k.Tensor != most || ops[k.Op]
		ops[k.Op] = ops[k.Op] || !unfit
		return unfit
	}), nil
}

func newKernel(pkg *types.Package, f *types.Func) (kernel, error) {
	k, sig := kernel{name: f.Name(), Op: snake(f.Name())}, f.Signature()
	if sig.TypeParams().Len()+sig.RecvTypeParams().Len() > 0 || sig.Variadic() {
		return k, fmt.Errorf("it has type parameters, or is variadic")
	}
	vars := slices.Collect(sig.Params().Variables())
	if sig.Recv() != nil {
		vars = slices.Insert(vars, 0, sig.Recv())
	}
	var params, args, schema []string
	written := "" // the type of an argument that is written, by its name or the function's
	for i, v := range vars {
		name := v.Name()
		if i == 0 && sig.Recv() != nil {
			name = "self"
		} else if name == "" || name == "_" || name == "self" || name == pkg.Name() {
			name = fmt.Sprintf("arg%d", i)
		}
		inSchema, typ := k.types(pkg, v.Type())
		if inSchema == "" {
			return k, fmt.Errorf("its %s is a %s, which is neither a tensor nor a number", name, typ)
		}
		named := destination.MatchString(name) || i == 0 && inPlace.MatchString(f.Name())
		if inSchema == "Tensor" && written == "" && named {
			inSchema, written = "Tensor(a!)", typ
		}
		params, args = append(params, name+" "+typ), append(args, name)
		schema = append(schema, inSchema+" "+snake(name))
		if typ == "*Slice" {
			args[i] += ".Data"
		}
	}
	if k.Element == "" {
		return k, fmt.Errorf("it takes no tensor")
	}
	call := pkg.Name() + "." + f.Name()
	if sig.Recv() != nil {
		call, args = args[0]+"."+f.Name(), args[1:]
	}
	call += "(" + strings.Join(args, ", ") + ")"
	returns, results, body, err := k.results(pkg, slices.Collect(sig.Results().Variables()), call)
	if written == "*Slice" && results == "*Slice" { // it returns what it writes, as append does
		returns, results, body = "()", "", call
	} else if returns == "Tensor" && written != "" {
		returns = "Tensor(a!)"
	}
	k.Schema = fmt.Sprintf("%s(%s) -> %s", k.Op, strings.Join(schema, ", "), returns)
	k.Text = fmt.Sprintf("func %s(%s) (%s) {\n%s\n}", f.Name(), strings.Join(params, ", "), results, body)
	return k, err
}

// destination and inPlace match names of what is written.
var (
	destination = regexp.MustCompile(`^(?i:dst|dest|out)$`)
	inPlace     = regexp.MustCompile(`(?i)in_?place`)
)

// results returns the returns in the schema, the results of the kernel, and its body.
func (k *kernel) results(pkg *types.Package, all []*types.Var, call string) (returns, results, body string, err error) {
	fails := len(all) > 0 && isError(all[len(all)-1].Type())
	if fails {
		all, results = all[:len(all)-1], "error"
	}
	switch {
	case len(all) > 1:
		return "", "", "", fmt.Errorf("it returns %d values", len(all))
	case len(all) == 0 && fails:
		return "()", results, "return " + call, nil
	case len(all) == 0:
		return "()", "", call, nil
	}
	returns, typ := k.types(pkg, all[0].Type())
	if returns == "" {
		return "", "", "", fmt.Errorf("it returns a %s, which is neither a tensor nor a number", typ)
	}
	body = "return " + call
	switch {
	case typ == "*Slice" && fails:
		body = "result, err := " + call + "\nreturn &Slice{result}, err"
	case typ == "*Slice":
		body = "return &Slice{" + call + "}"
	}
	return returns, strings.TrimSuffix(typ+", "+results, ", "), body, nil
}

// types returns a type in the schema, "" for none, and in the kernel. The first tensor decides on the type of all.
func (k *kernel) types(pkg *types.Package, t types.Type) (schema, typ string) {
	unnamed := false
	typ = types.TypeString(t, func(p *types.Package) string {
		unnamed = unnamed || p != pkg
		return p.Name()
	})
	if unnamed || hidden.MatchString(typ) {
		return "", typ
	}
	if k.Tensor == "" {
		if e := element(t); e != "" {
			k.Tensor, k.Slice, k.Element = typ, typ, e
		} else if f := formOf(pkg, t); f.Make != "" {
			k.Tensor, k.form = typ, f
		}
	}
	switch {
	case typ == k.Tensor && k.Slice != "":
		return "Tensor", "*Slice"
	case typ == k.Tensor:
		return "Tensor", typ
	}
	return scalar(t), typ
}

// hidden matches a type that no other package can name.
var hidden = regexp.MustCompile(`\.[^\p{Lu}]`)

// element returns the element of a slice of numbers, or "".
func element(t types.Type) string {
	if s, ok := t.Underlying().(*types.Slice); ok {
		if b, ok := types.Unalias(s.Elem()).(*types.Basic); ok && b.Info()&types.IsNumeric != 0 {
			return b.Name()
		}
	}
	return ""
}

// scalar returns the schema's type of a basic type, or "".
func scalar(t types.Type) string {
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return ""
	}
	switch info := b.Info(); {
	case info&types.IsInteger != 0:
		return "int"
	case info&types.IsFloat != 0:
		return "float"
	case info&types.IsBoolean != 0:
		return "bool"
	case info&types.IsString != 0:
		return "str"
	}
	return ""
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// formOf returns how tensors are observed and made that are pointers to a struct of the package: by an exported field
// or a method that is a slice of numbers, and by a function that takes such a slice, or a literal.
func formOf(pkg *types.Package, t types.Type) (f form) {
	p, _ := types.Unalias(t).(*types.Pointer)
	if p == nil {
		return form{}
	}
	named, _ := types.Unalias(p.Elem()).(*types.Named)
	if named == nil || named.Obj().Pkg() != pkg || named.TypeArgs().Len() > 0 || !named.Obj().Exported() {
		return form{}
	}
	s, _ := named.Underlying().(*types.Struct)
	for i := 0; s != nil && i < s.NumFields(); i++ {
		if e := element(s.Field(i).Type()); e != "" && s.Field(i).Exported() && f.Storage == "" {
			f = form{Element: e, Storage: s.Field(i).Name(), Dims: "1"}
			if s.NumFields() == 1 {
				f.Make = fmt.Sprintf("return &%s.%s{%s: data}, nil", pkg.Name(), named.Obj().Name(), f.Storage)
			}
		}
	}
	for m := range named.Methods() {
		sig := m.Signature()
		if f.Storage == "" && m.Exported() && sig.Params().Len() == 0 && sig.Results().Len() == 1 {
			if e := element(sig.Results().At(0).Type()); e != "" {
				f = form{Element: e, Storage: m.Name() + "()"}
			}
		}
	}
	for _, name := range pkg.Scope().Names() {
		fn, _ := pkg.Scope().Lookup(name).(*types.Func)
		if fn != nil && fn.Exported() && f.Storage != "" && f.Make == "" {
			f.Make, f.Dims = construct(fn, t, f.Element)
		}
	}
	return f
}

// construct returns a call of fn that makes a tensor from data, and the number of its dimensions, or "".
func construct(fn *types.Func, t types.Type, elem string) (text, dims string) {
	sig := fn.Signature()
	results := slices.Collect(sig.Results().Variables())
	if sig.TypeParams().Len() > 0 || sig.Variadic() || len(results) == 0 || !types.Identical(results[0].Type(), t) ||
		len(results) > 2 || len(results) == 2 && !isError(results[1].Type()) {
		return "", ""
	}
	var args []string
	sizes := 0
	for v := range sig.Params().Variables() {
		switch typ := types.TypeString(v.Type(), (*types.Package).Name); {
		case element(v.Type()) == elem && !slices.Contains(args, "data"):
			args = append(args, "data")
		case scalar(v.Type()) == "int" && sizes < 2:
			args = append(args, fmt.Sprintf("%s(s.Sizes[%d])", typ, sizes))
			sizes++
		default:
			return "", ""
		}
	}
	if !slices.Contains(args, "data") {
		return "", ""
	}
	text = "return " + fn.Pkg().Name() + "." + fn.Name() + "(" + strings.Join(args, ", ") + ")"
	if len(results) == 1 {
		text += ", nil"
	}
	return text, fmt.Sprint(max(1, sizes))
}

// snake returns a Go name as an op's: AddScaled and Add_Scaled are add_scaled.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.ReplaceAll(b.String(), "__", "_")
}
