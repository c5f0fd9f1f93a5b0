package emit

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// comment is a comment of one line, whatever the text holds.
func comment(text string) *jen.Statement {
	if text == "" {
		return jen.Comment("//")
	}
	return jen.Comment("// " + printable(text))
}

// doc is a function's comment: what it does, and its schema set off as code.
func doc(summary, schema string) *jen.Statement {
	return comment(summary).Line().
		Add(comment("")).Line().
		Comment("//\t" + printable(schema)).Line()
}

// printable returns the text, as a Go string literal if it has line breaks or
// anything else that a reader can't see.
func printable(text string) string {
	for i, r := range text {
		if !strconv.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
			return strconv.Quote(text)
		}
	}
	return text
}
