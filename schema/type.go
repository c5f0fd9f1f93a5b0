package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/yamlfile"
)

// baseTypes are the types that torchgen knows, up to PyTorch 2.8.
//
// Source: torchgen/model.py, BaseTy.
var baseTypes = []string{"Tensor", "Scalar", "int", "SymInt", "float", "bool", "SymBool", "str", "ScalarType", "Layout",
	"Device", "DeviceIndex", "MemoryFormat", "Generator", "Dimname", "DimVector", "QScheme", "Storage", "Stream",
	"ConstQuantizerPtr", "GraphModule"}

const customClass = "__torch__.torch.classes."

// typ = primary [ alias ] { ( "[" [ size ] "]" | "?" ) [ alias ] } .
func (p *parser) typ(nesting int) (Type, *Alias) {
	p.skipSpace()
	start := p.off
	t := p.primary(nesting)
	var first *Alias
	next := &first
	for depth := 0; ; depth++ {
		if nesting+depth > maxDepth {
			p.fail(start, "the type is nested deeper than %d", maxDepth)
		}
		if p.peek("(") {
			a := p.alias(t, depth)
			*next, next = a, &a.Outer
		}
		switch {
		case p.accept("["):
			t = Type{Kind: List, Elem: []Type{t}, Size: p.size()}
			p.expect("]")
		case p.accept("?"):
			t = Type{Kind: Optional, Elem: []Type{t}}
		default:
			return t, first
		}
	}
}

// size parses the digits of int[2], or nothing.
func (p *parser) size() int {
	p.skipSpace()
	start := p.off
	for p.off < len(p.text) && isDigit(p.text[p.off]) {
		p.off++
	}
	if p.off == start {
		return 0
	}
	n, err := strconv.Atoi(p.text[start:p.off])
	if err != nil || n == 0 {
		p.fail(start, "%s is not a size for a list", yamlfile.Clip(p.text[start:p.off]))
	}
	return n
}

// primary = "(" types ")" | constructor "(" types ")" | name .
func (p *parser) primary(nesting int) Type {
	start := p.off
	if p.peek("(") {
		if p.dialect == native {
			p.fail(start, "a tuple is not a type here")
			return Type{}
		}
		return Type{Kind: Tuple, Elem: p.types(nesting)}
	}
	name := p.typeName()
	if p.err != nil {
		return Type{}
	}
	if p.dialect == native {
		p.checkTypeName(start, name)
		return Type{Name: name}
	}
	for kind, constructor := range constructors {
		if constructor == name && p.peek("(") {
			t := Type{Kind: TypeKind(kind), Elem: p.types(nesting)}
			p.checkArity(start, t)
			return t
		}
	}
	return Type{Name: name}
}

func (p *parser) typeName() string {
	start := p.off
	p.identifier("a type")
	for p.off+1 < len(p.text) && p.text[p.off] == '.' && isLetter(p.text[p.off+1]) {
		p.off++
		p.word("a type", isAlphanumeric)
	}
	return p.text[start:p.off]
}

func (p *parser) checkTypeName(off int, name string) {
	if slices.Contains(baseTypes, name) || strings.HasPrefix(name, customClass) {
		return
	}
	near := yamlfile.Suggest(name, baseTypes)
	if near == "" {
		p.warn(p.at(off), "unknown type %q: assumed to hold no tensor", name)
		return
	}
	p.fail(off, "unknown type %q%s", name, near)
}

// types = "(" [ type { "," type } ] ")" .
func (p *parser) types(nesting int) []Type {
	p.expect("(")
	var list []Type
	p.items(")", func() (last bool) {
		start := p.off
		t, a := p.typ(nesting + 1)
		if a != nil {
			p.fail(start, "the dispatcher does not support an alias set inside another type")
		}
		list = append(list, t)
		return false
	})
	return list
}

func (p *parser) checkArity(off int, t Type) {
	want := 1
	switch t.Kind {
	case Dict:
		want = 2
	case Union:
		want = max(1, len(t.Elem))
	}
	if len(t.Elem) != want {
		p.fail(off, "%s takes %d types, not %d", constructors[t.Kind], want, len(t.Elem))
	}
}
