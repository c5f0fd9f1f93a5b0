package schema

import "slices"

// alias = "(" sets [ "!" ] [ "->" [ sets ] ] ")" ; sets = set { "|" set } . It follows t, after as many suffixes as
// depth. The dispatcher prints an empty set for Tensor!, which has no name: Tensor($0! -> ).
func (p *parser) alias(t Type, depth int) *Alias {
	p.skipSpace()
	start := p.off
	p.expect("(")
	a := &Alias{Depth: depth, Before: p.aliasSets()}
	a.Write = p.accept("!")
	switch {
	case !p.accept("->"):
	case p.dialect == dispatcher && p.peek(")"):
		a.After = []string{}
	default:
		a.After = p.aliasSets()
	}
	p.expect(")")
	if p.dialect == native {
		p.checkAlias(start, t, a)
	}
	return a
}

func (p *parser) aliasSets() []string {
	sets := []string{p.aliasSet()}
	for p.accept("|") {
		sets = append(sets, p.aliasSet())
	}
	return sets
}

// aliasSet = "*" | name . The dispatcher may number a set: $0.
func (p *parser) aliasSet() string {
	if p.accept("*") {
		return "*"
	}
	return p.word("an alias set", func(c byte) bool { return isAlphanumeric(c) || c == '$' })
}

// checkAlias reports the annotations that torchgen refuses.
//
// Source: torchgen/model.py, Annotation.parse and Argument.parse.
func (p *parser) checkAlias(off int, t Type, a *Alias) {
	isLetterSet := func(set string) bool { return len(set) == 1 && 'a' <= set[0] }
	switch {
	case t.Name != "Tensor":
		p.fail(off, "an alias set directly follows Tensor, not %s", t)
	case !slices.ContainsFunc(a.Before, isLetterSet) && slices.Contains(a.Before, "*"):
		p.fail(off, "(*) is not an alias set here: write (a -> *) on the argument that escapes")
	case !all(a.Before, isLetterSet):
		p.fail(off, "an alias set is one lower-case letter, not %s", a)
	case !all(a.After, isLetterSet) && !slices.Equal(a.After, []string{"*"}):
		p.fail(off, "lower-case letters or * follow ->, not %s", a)
	case a.Write && len(a.Before) > 1:
		p.fail(off, "a written argument has one alias set, not %s", a)
	case len(a.Before) > 1 && len(a.After) > 1:
		p.fail(off, "there can't be several alias sets on both sides of ->: %s", a)
	}
}

func all(sets []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(sets, func(s string) bool { return !ok(s) })
}

func sameAlias(a, b *Alias) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Write == b.Write && a.Depth == b.Depth && slices.Equal(a.Before, b.Before) &&
		slices.Equal(a.After, b.After) && sameAlias(a.Outer, b.Outer)
}
