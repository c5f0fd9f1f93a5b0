package schema

import (
	"regexp"
	"slices"
	"strings"
)

// functionalSuffix marks the functional variant of a mutable op.
//
// Source: torchgen/model.py, Note [Overload Ambiguity With Functional Variants].
const functionalSuffix = "_functional"

// augmented are the operators of Python's augmented assignment: __iadd__ is the in-place form of __add__.
var augmented = []string{"add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or"}

// name = identifier [ "." identifier ] .
func (p *parser) name() Name {
	p.skipSpace()
	start := p.off
	root := p.identifier("an operator name")
	n := splitRoot(root)
	if p.dialect == native {
		p.checkRoot(start, root, n)
	}
	if p.accept(".") {
		n.Overload = p.word("an overload name", isAlphanumeric) // which may begin with a digit
	}
	return n
}

// splitRoot splits a name without overload into its parts. Every identifier has exactly one
// reading, and prints back to itself.
//
// Source: torchgen/model.py, BaseOperatorName.parse.
func splitRoot(root string) Name {
	if dunder := dunderName.FindStringSubmatch(root); dunder != nil {
		base := dunder[1]
		if after, i := strings.CutPrefix(base, "i"); i && slices.Contains(augmented, after) {
			return Name{Base: after, Dunder: true, Inplace: true}
		}
		return Name{Base: base, Dunder: true}
	}
	if base, ok := strings.CutSuffix(root, "_"); ok && base != "" {
		return Name{Base: base, Inplace: true}
	}
	if base, ok := strings.CutSuffix(root, functionalSuffix); ok && base != "" {
		return Name{Base: base, Functional: true}
	}
	return Name{Base: root}
}

// dunderName matches __add__.
var dunderName = regexp.MustCompile(`^__([^_]+)__$`)

// checkRoot reports names that torchgen refuses.
func (p *parser) checkRoot(off int, root string, n Name) {
	switch {
	case strings.HasSuffix(root, "_out"):
		p.fail(off, "the name %s ends in _out, which is reserved: make it the overload, %s.out",
			root, strings.TrimSuffix(root, "_out"))
	case n.Dunder && n.Base[0] == 'i':
		p.fail(off, "%s looks like an augmented assignment, but Python has no operator %s", root, n.Base[1:])
	case n.Inplace && strings.HasSuffix(n.Base, functionalSuffix):
		p.fail(off, "%s can't be both in-place and %s", root, functionalSuffix)
	case root == "_" || root == functionalSuffix:
		p.fail(off, "%s is a suffix with no name before it", root)
	}
}
