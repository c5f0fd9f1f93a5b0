package schema

import (
	"fmt"
	"slices"
	"strings"
)

// signature returns the part that all variants of a function have in common, without overload names, annotations, out
// arguments, tensor options and the names of returns; written arguments that are not returned become returns.
//
// Source: torchgen/model.py, FunctionSchema.signature.
func (f *Function) signature() Function {
	s := f.core()
	for i := range s.Returns {
		s.Returns[i].Name = ""
	}
	s.Name.Functional = false
	s.Name.Overload = ""
	if f.Name.String() == "bernoulli.p" { // bernoulli_.float has a default value that it lacks
		for i := range s.Args {
			if s.Args[i].Name == "p" {
				s.Args[i].Default = "0.5"
			}
		}
	}
	return s
}

// core returns the signature with the names of a functional variant.
func (f *Function) core() Function {
	core := Function{Name: f.Name, Args: f.plainArgs()}
	core.Name.Inplace = false
	core.Returns = make([]Return, 0, len(f.Returns)+1)
	for _, r := range f.Returns {
		core.Returns = append(core.Returns, Return{Name: r.Name, Type: r.Type})
	}
	for _, a := range f.writtenOnly() {
		core.Returns = append(core.Returns, Return{Name: a.Name + "_out", Type: a.Type})
	}
	return core
}

// plainArgs returns the arguments except out arguments and tensor options, without annotations.
func (f *Function) plainArgs() []Argument {
	args := make([]Argument, 0, len(f.Args)+1)
	options := f.optionsIndex()
	for i, a := range f.Args {
		if a.Out || options >= 0 && options <= i && i < options+len(optionArgs) {
			continue
		}
		a.Alias = nil
		args = append(args, a)
	}
	return args
}

// writtenOnly returns the arguments that are written and not returned: self, the out arguments, the others.
func (f *Function) writtenOnly() []Argument {
	var first, outs, others []Argument
	for i, a := range f.Args {
		if !a.writes() || slices.ContainsFunc(f.Returns, func(r Return) bool { return sameAlias(r.Alias, a.Alias) }) {
			continue
		}
		switch {
		case a.Out:
			outs = append(outs, a)
		case i == f.selfIndex():
			first = append(first, a)
		default:
			others = append(others, a)
		}
	}
	return slices.Concat(first, outs, others)
}

// functionalVariant returns the variant that writes nothing, and returns the tensors that f writes.
//
// Source: torchgen/native_function_generation.py, generate_function.
func (f *Function) functionalVariant() Function {
	v := f.core()
	v.Name.Functional = f.Kind() == Mutable
	return v
}

// outVariant returns the variant with its results in out arguments.
//
// Source: torchgen/native_function_generation.py, self_to_out_signature,
// functional_to_out_signature, mutable_to_out_signature.
func (f *Function) outVariant() Function {
	name := Name{Base: f.Name.Base, Dunder: f.Name.Dunder, Overload: "out"}
	if f.Name.Overload != "" {
		name.Overload = f.Name.Overload + "_out"
	}
	switch f.Kind() {
	case Inplace:
		args := slices.Clone(f.Args)
		i := f.selfIndex()
		out := Argument{Name: "out", Type: args[i].Type, Alias: args[i].Alias, KwargOnly: true, Out: true}
		args[i].Alias = nil
		return Function{Name: name, Args: append(args, out), Returns: slices.Clone(f.Returns)}
	case Mutable:
		return f.withOuts(name, slices.Clone(f.Args))
	default:
		return f.withOuts(name, f.plainArgs())
	}
}

// withOuts adds an out argument for every tensor return. The variant returns them if all are plain
// tensors; otherwise only the returns that are not tensors.
//
// Source: torchgen/native_function_generation.py, generate_out_args_from_schema.
func (f *Function) withOuts(name Name, args []Argument) Function {
	letters := f.freeLetters()
	plain := !slices.ContainsFunc(f.Returns, func(r Return) bool { return r.Type.Name != "Tensor" })
	v := Function{Name: name, Args: args}
	for i, r := range f.Returns {
		if !r.Type.IsTensorLike() {
			v.Returns = append(v.Returns, r)
			continue
		}
		written := &Alias{Before: []string{letters[i]}, Write: true}
		out := Argument{Name: "out", Type: r.Type, Alias: written, KwargOnly: true, Out: true}
		if len(f.Returns) > 1 {
			out.Name = fmt.Sprintf("out%d", i)
		}
		v.Args = append(v.Args, out)
		if plain {
			v.Returns = append(v.Returns, Return{Type: r.Type, Alias: out.Alias})
		}
	}
	return v
}

// freeLetters returns alias sets that no argument uses, at least one for every return. If letters
// run out they are "?", which is not an alias set.
func (f *Function) freeLetters() []string {
	free := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	for _, a := range f.Args {
		if a.Alias != nil {
			free = slices.DeleteFunc(free, func(letter string) bool { return slices.Contains(a.Alias.Before, letter) })
		}
	}
	for len(free) <= len(f.Returns) {
		free = append(free, "?")
	}
	return free
}
