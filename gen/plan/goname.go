package plan

import (
	"strings"

	"github.com/opassert/opassert/schema"
)

// GoName returns the exported Go name of an op:
//
//	add.Tensor             AddTensor
//	add_.Tensor            Add_Tensor
//	max_pool2d.out         MaxPool2dOut
//	_softmax               InternalSoftmax
//	__and__.Scalar         DunderAndScalar
//	foo_functional         FooFunctional
//
// Two ops of one file may still meet in one name; the generator refuses that and names both.
func GoName(n schema.Name) string {
	var b strings.Builder
	text := n.Base
	switch {
	case n.Dunder:
		b.WriteString("Dunder")
		text = strings.Trim(n.Root(), "_")
	case strings.HasPrefix(text, "_"):
		b.WriteString("Internal")
		text = strings.TrimLeft(text, "_")
	}
	b.WriteString(camel(text))
	if n.Functional {
		b.WriteString("Functional")
	}
	if n.Inplace && !n.Dunder {
		b.WriteString("_")
	}
	b.WriteString(camel(n.Overload))
	return b.String()
}

// camel joins the words of a snake_case name; a trailing underscore remains, since some overloads differ only in it.
func camel(snake string) string {
	words := strings.Split(snake, "_")
	var b strings.Builder
	for i, w := range words {
		if w == "" && i == len(words)-1 && i > 0 {
			b.WriteString("_")
		}
		if w != "" {
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	return b.String()
}
