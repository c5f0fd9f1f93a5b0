package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

// jennifer puts a space between the parts of a statement and leaves the rest to go/format, which
// would take half of the time for the typed functions. So code is composed of the groups below, in
// gofmt's layout, and isn't formatted; tests compare every generated text with gofmt's.

// tight joins parts without a space between them.
func tight(parts ...jen.Code) *jen.Statement { return jen.Custom(jen.Options{}, parts...) }

// rows are lines at the top level.
func rows(lines ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Separator: "\n"}, lines...)
}

// list is items behind each other: a, b.
func list(items ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Separator: ", "}, items...)
}

// call is a call, or the name and parameters of a function: f(a, b).
func call(f jen.Code, args ...jen.Code) *jen.Statement { return tight(f, parens(args...)) }

func parens(items ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "(", Close: ")", Separator: ", "}, items...)
}

func selector(x jen.Code, name string) *jen.Statement {
	return jen.Custom(jen.Options{Separator: "."}, x, jen.Id(name))
}

// method returns a call of a method: x.name(a, b).
func method(x jen.Code, name string, args ...jen.Code) *jen.Statement {
	return call(selector(x, name), args...)
}

// block is lines between braces, depth tabs deep.
func block(depth int, lines ...jen.Code) *jen.Statement {
	tabs := "\n" + strings.Repeat("\t", depth)
	return jen.Custom(jen.Options{Open: "{" + tabs, Close: tabs[:len(tabs)-1] + "}", Separator: tabs}, lines...)
}

// literal is a composite literal on one line: T{a, b}.
func literal(typ jen.Code, values ...jen.Code) *jen.Statement {
	return tight(typ, jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ", "}, values...))
}

// field is a field of a composite literal.
func field(name string, value jen.Code) *jen.Statement { return jen.Id(name + ":").Add(value) }

func sliceOf(elem jen.Code) *jen.Statement { return tight(jen.Index(), elem) }

func pointerTo(x jen.Code) *jen.Statement { return tight(jen.Op("*"), x) }

func addressOf(x jen.Code) *jen.Statement { return tight(jen.Op("&"), x) }

// spread is a variadic argument: x...
func spread(x jen.Code) *jen.Statement { return tight(x, jen.Op("...")) }

// line is a value of a composite literal on lines of its own.
func line(value jen.Code) *jen.Statement { return tight(value, jen.Op(",")) }
