package schema

import (
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// A group holds the variants of one function, which differ in kind alone.
//
// Source: torchgen/native_function_generation.py, pre_group_native_functions.
type group struct {
	members [Scratch + 1]*entry // by kind
	entries []*entry            // in file order
}

// derive returns the ops that torchgen adds to those of the file: out= variants that autogen asks for, and functional
// variants of ops that have an out= variant.
//
// Note [Unknown autogen names]: where autogen names an op that no version's rules
// derive, the file may be of a PyTorch that is newer than opassert. The op is made as
// autogen names it, with a warning.
//
// Source: torchgen/native_function_generation.py,
// add_generated_native_functions.
func (r *reader) derive(entries []*entry) []*Op {
	groups := r.groups(entries)
	row, err := r.chooseRevision(entries, groups)
	if err != nil {
		r.ReportAt(token.Position{Filename: r.Path}, "-version: %v", err)
		return nil
	}
	rev := &revisions[row]
	for _, e := range entries {
		r.giveTags(e.op)
	}
	var derived []*Op
	for _, g := range groups {
		if !g.derives(rev) {
			continue
		}
		variants := g.missing(rev)
		if g.compared(variants) {
			variants = r.useListed(g, g.base(rev), variants)
		}
		for _, v := range variants {
			op := r.derivedOp(g.base(rev), v, rev)
			if op == nil {
				continue
			}
			if first := r.named[op.Name()]; first != nil {
				r.warnAt(op.Pos, "torchgen derives %s from this entry, but line %d already has that name",
					op.Name(), first.Pos.Line)
				continue
			}
			r.named[op.Name()] = op
			derived = append(derived, op)
		}
	}
	return derived
}

func (r *reader) groups(entries []*entry) []*group {
	var list []*group
	bySignature := make(map[string]*group, len(entries))
	for _, e := range entries {
		key := e.op.Namespace + "::" + e.op.Func.signature().String()
		g := bySignature[key]
		if g == nil {
			g = &group{}
			bySignature[key] = g
			list = append(list, g)
		}
		kind := e.op.Kind()
		if first := g.members[kind]; first != nil {
			r.ReportAt(e.op.Pos, "%s has the signature of %s, in line %d, and is %s too: only the overload names differ",
				e.op.Name(), first.op.Name(), first.op.Pos.Line, kind)
			continue
		}
		g.members[kind] = e
		g.entries = append(g.entries, e)
	}
	return list
}

func (g *group) all(is func(*Op) bool) bool {
	return !slices.ContainsFunc(g.entries, func(e *entry) bool { return !is(e.op) })
}

// derives reports whether torchgen derives variants that are missing: it checks the group, and has a base for them. It
// refuses an out= op without any other variant, which a file of another backend may have.
func (g *group) derives(rev *revision) bool {
	core := func(e *entry) bool { return slices.Contains(e.op.Tags, "core") }
	switch {
	case g.base(rev) == nil, g.members[Out] != nil && len(g.entries) == 1,
		g.all(func(op *Op) bool { return op.ManualCppBinding }),
		g.all((*Op).IsComposite) && !(rev.coreDerives && slices.ContainsFunc(g.entries, core)),
		!g.all(func(op *Op) bool { return op.View() == NotView || op.Func.Name.Root() == "set_" }):
		return false
	}
	// polygamma_ has its arguments in another order than polygamma.
	inplace := g.members[Inplace]
	return inplace == nil || inplace.op.Func.Name.String() != "polygamma_"
}

// base returns the variant that the others are derived from. A group of scratch variants alone has none.
func (g *group) base(rev *revision) *entry {
	for _, kind := range rev.bases {
		if g.members[kind] != nil {
			return g.members[kind]
		}
	}
	return nil
}

// missing returns the variants that torchgen adds.
func (g *group) missing(rev *revision) []Function {
	base := g.base(rev)
	f := &base.op.Func
	returnsTensor := slices.ContainsFunc(f.Returns, func(ret Return) bool { return ret.Type.IsTensorLike() })
	canHaveOut := f.Kind() == Inplace || returnsTensor // the variant could return something in an argument
	addsOut := g.members[Out] == nil && canHaveOut && slices.ContainsFunc(base.op.Autogen, Name.saysOut)
	var variants []Function
	if addsOut {
		variants = append(variants, f.outVariant())
	}
	if g.members[Functional] == nil && (addsOut || g.members[Out] != nil) {
		variants = append(variants, f.functionalVariant())
	}
	return variants
}

// saysOut reports whether a name in an autogen list is that of an out= variant.
func (n Name) saysOut() bool { return strings.Contains(n.String(), "out") }

// compared reports whether torchgen compares the ops that it derives with those that
// autogen lists: the group has a functional and an out= variant in the end. Any
// derived op makes both exist, and with out= there is a functional variant.
//
// Source: torchgen/model.py, NativeFunctionsGroup.__post_init__.
func (g *group) compared(derived []Function) bool { return len(derived) > 0 || g.members[Out] != nil }

type listedName struct {
	name Name
	by   *entry
}

func (g *group) listed() []listedName {
	var list []listedName
	for _, e := range g.entries {
		for _, name := range e.op.Autogen {
			list = append(list, listedName{name, e})
		}
	}
	return list
}

// useListed replaces the variants by those that autogen lists, if it lists others. torchgen demands
// that all are listed, but a file may have only the ops that its author needs.
func (r *reader) useListed(g *group, base *entry, variants []Function) []Function {
	listed := g.listed()
	isListed := func(v Function) bool {
		return slices.ContainsFunc(listed, func(l listedName) bool { return l.name == v.Name })
	}
	for _, l := range listed {
		if slices.ContainsFunc(variants, func(v Function) bool { return v.Name == l.name }) {
			continue
		}
		kind := Functional
		if l.name.saysOut() {
			kind = Out
		}
		i := slices.IndexFunc(variants, func(v Function) bool { return v.Kind() == kind && !isListed(v) })
		if at := l.by.values[keyAutogen]; i >= 0 {
			r.warn(at, "autogen lists %s, where %v derive %s: the name in the file is used", l.name, r.reading, variants[i].Name)
		} else {
			r.warn(at, "autogen lists %s, which %v do not derive: the name in the file is used", l.name, r.reading)
			v := base.op.Func.functionalVariant()
			if kind == Out {
				v = base.op.Func.outVariant()
			}
			i, variants = len(variants), append(variants, v)
		}
		variants[i].Name = l.name
	}
	return variants
}

// noWarnings drops warnings: those of a derived schema repeat those of its base.
func noWarnings(token.Position, string, ...any) {}

const generatedTag = "generated"

// derivedOp makes the op of a derived schema by parsing its text, so that it is checked like any
// other; an invalid one is dropped with a warning.
//
// Source: torchgen/native_function_generation.py, generate_function.
func (r *reader) derivedOp(base *entry, f Function, rev *revision) *Op {
	var errs scanner.ErrorList
	op := parseText(f.String(), native, func(int) token.Position { return base.op.Pos }, &errs, noWarnings)
	for _, e := range errs {
		r.warnAt(e.Pos, "torchgen derives %s, which is wrong: %s", f, e.Msg)
	}
	if op == nil {
		return nil
	}
	op.Namespace, op.Qualified = base.op.Namespace, base.op.Namespace != "aten"
	op.Autogenerated, op.CompositeExplicit, op.Decomposes = true, true, base.op.Decomposes
	op.Kernels = []string{compositeExplicit}
	own := func(tag string) bool { return !slices.Contains(rev.inherited, tag) }
	op.Tags = append(slices.DeleteFunc(slices.Clone(base.op.Tags), own), generatedTag)
	slices.Sort(op.Tags)
	r.giveTags(op)
	return op
}
