package schema

import (
	"fmt"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// checkFunction reports the errors of torchgen, or of the dispatcher's own parser, about
// a schema that is well formed, and reports whether there were none.
//
// Source: torchgen/model.py, FunctionSchema.__post_init__ and
// Arguments._preparse; aten/src/ATen/core/function_schema.h,
// FunctionSchema::checkSchema.
func checkFunction(op *Op, errs *scanner.ErrorList) bool {
	v := verifier{Function: &op.Func, pos: op.Pos, errs: errs}
	before := len(*errs)
	v.arguments()
	v.defaults()
	if first := v.optionsIndex(); first >= 0 && v.Kind() != Functional {
		v.report(v.Args[first].Pos, "dtype, layout, device and pin_memory are for factory functions, but %s is %s",
			v.Name, v.Kind())
	}
	v.inplace()
	v.out()
	v.returns()
	if strings.Contains(v.Name.Overload, "functional") && v.Kind() != Functional {
		v.report(v.pos, "an overload named functional must not write arguments, but %s is %s", v.Name, v.Kind())
	}
	return len(*errs) == before
}

type verifier struct {
	*Function
	pos  token.Position // of the name
	errs *scanner.ErrorList
}

func (v *verifier) report(pos token.Position, format string, args ...any) {
	v.errs.Add(pos, fmt.Sprintf(format, args...))
}

func (v *verifier) arguments() {
	self := v.selfIndex()
	out := ""
	for i, a := range v.Args {
		for j := range i {
			if v.Args[j].Name == a.Name {
				v.report(a.Pos, "a second argument is named %s", a.Name)
			}
		}
		switch {
		case i < self && a.writes():
			v.report(a.Pos, "an argument before self can't be written: %s", a)
		case a.Out:
			out = a.Name
		case out != "":
			v.report(a.Pos, "%s is after the out argument %s: out arguments come last", a.Name, out)
		case a.KwargOnly && a.Name == "out" && a.Type.IsTensorLike():
			v.report(a.Pos, "an out argument is written: %s", a.written("a"))
		}
	}
}

// written returns the argument as printed with a written alias set.
func (a Argument) written(set string) string {
	return a.with(&Alias{Before: []string{set}, Write: true}).String()
}

func (v *verifier) defaults() {
	seen := ""
	for _, a := range v.Args {
		switch {
		case a.Default == "None" && a.Type.Kind != Optional:
			v.report(a.Pos, "None is not a value for %s: make the type %s?", a.Name, a.Type.annotated(a.Alias))
		case a.KwargOnly:
		case a.Default != "":
			seen = a.Name
		case seen != "" && a.Type.Kind != List:
			v.report(a.Pos, "%s needs a default value, since %s before it has one", a.Name, seen)
		}
	}
}

// optionArgs are the arguments of a TensorOptions, in order.
var optionArgs = [...]struct{ name, typ string }{
	{"dtype", "ScalarType"}, {"layout", "Layout"}, {"device", "Device"}, {"pin_memory", "bool"},
}

// optionsIndex returns the position of the first TensorOptions, or -1.
//
// Source: torchgen/model.py, Arguments.parse.
func (f *Function) optionsIndex() int {
	for i := range len(f.Args) + 1 - len(optionArgs) {
		match := true
		for j, want := range optionArgs {
			a := &f.Args[i+j]
			t := a.Type
			if t.Kind == Optional {
				t = t.Elem[0]
			}
			match = match && a.KwargOnly && a.Name == want.name && t.Name == want.typ
		}
		if match {
			return i
		}
	}
	return -1
}

func (v *verifier) inplace() {
	if !v.Name.Inplace {
		return
	}
	i, out := v.selfIndex(), slices.IndexFunc(v.Args, func(a Argument) bool { return a.Out })
	if i < 0 {
		v.report(v.pos, "%s is in-place by its name, but has no argument self", v.Name)
		return
	}
	self := v.Args[i]
	plain := self.Type.Kind == Base
	switch {
	case !self.writes():
		v.report(self.Pos, "%s is in-place by its name: write self as %s", v.Name, self.written("a"))
	case out >= 0:
		v.report(v.Args[out].Pos, "%s is in-place by its name, so it can't have the out argument %s",
			v.Name, v.Args[out].Name)
	case plain && (len(v.Returns) != 1 || !sameAlias(v.Returns[0].Alias, self.Alias)):
		v.report(v.returnsPos(), "an in-place op returns self: -> %s", self.Type.annotated(self.Alias))
	case !plain && len(v.Returns) > 0:
		v.report(v.returnsPos(), "an in-place op on %s returns nothing: -> ()", self.Type)
	}
}

// returnsPos returns the position of the returns, or of the name if there are none.
func (v *verifier) returnsPos() token.Position {
	if len(v.Returns) > 0 {
		return v.Returns[0].Pos
	}
	return v.pos
}

func (v *verifier) out() {
	var outs []Argument
	lists, returned := false, 0
	for _, a := range v.Args {
		if !a.Out {
			continue
		}
		outs = append(outs, a)
		lists = lists || a.Type.Kind != Base
		if !strings.HasPrefix(a.Name, "_scratch_") {
			returned++
		}
	}
	switch {
	case len(outs) == 0 || v.Name.Inplace:
		return
	case lists && len(v.Returns) > 0:
		v.report(v.returnsPos(), "an op with a list or an optional as out argument returns nothing: -> ()")
		return
	case !lists && len(v.Returns) != returned:
		v.report(v.returnsPos(), "an out= op returns its out arguments: %d returns, not %d", returned, len(v.Returns))
		return
	}
	for i := range min(len(outs), len(v.Returns)) {
		if r := v.Returns[i]; !sameAlias(outs[i].Alias, r.Alias) {
			v.report(r.Pos, "return %d is the out argument %s, so its type is %s",
				i, outs[i].Name, outs[i].Type.annotated(outs[i].Alias))
		}
	}
}

func (v *verifier) returns() {
	write := slices.ContainsFunc(v.Returns, Return.writes)
	afterSelf := v.selfIndex() + 1
	for _, r := range v.Returns {
		i := slices.IndexFunc(v.Args, func(a Argument) bool { return sameAlias(a.Alias, r.Alias) })
		switch {
		case r.Alias != nil && v.unmatched(r):
			v.report(r.Pos, "no argument has the alias set of this return, (%s)", r.Alias)
		case !r.writes() && write:
			v.report(r.Pos, "either all returns are written arguments or none is")
		case !r.writes():
		case i < 0:
			v.report(r.Pos, "no argument has the annotation (%s) of this return", r.Alias)
		case i >= afterSelf && !v.Args[i].KwargOnly:
			v.report(r.Pos, "only self and out arguments can be returned: make %s keyword-only, or don't return it",
				v.Args[i].Name)
		}
	}
}

func (r Return) writes() bool { return r.Alias != nil && r.Alias.Write }

// unmatched reports whether no argument has any of the alias sets of a return. A further set, as b
// in Tensor(b|a), means that the return may also be fresh.
func (f *Function) unmatched(r Return) bool {
	return !slices.ContainsFunc(r.Alias.Before, func(set string) bool {
		return set == "*" || slices.ContainsFunc(f.Args, func(a Argument) bool { return a.carries(set) })
	})
}

// carries reports whether the argument is in the alias set, before or after.
func (a Argument) carries(set string) bool {
	for alias := a.Alias; alias != nil; alias = alias.Outer {
		if slices.Contains(alias.Before, set) || slices.Contains(alias.After, set) {
			return true
		}
	}
	return false
}
