package emit

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Code is composed of the parts below in gofmt's layout, and isn't formatted: go/format would take half of the time
// for the typed functions. Tests compare every generated text with gofmt's.

// rows are lines at the top level.
func rows(lines ...string) string { return strings.Join(lines, "\n") }

// list is items behind each other: a, b.
func list(items ...string) string { return strings.Join(items, ", ") }

// call is a call, or the name and parameters of a function: f(a, b).
func call(f string, args ...string) string { return f + "(" + list(args...) + ")" }

// block is lines between braces, depth tabs deep.
func block(depth int, lines ...string) string {
	tabs := "\n" + strings.Repeat("\t", depth)
	return "{" + tabs + strings.Join(lines, tabs) + tabs[:len(tabs)-1] + "}"
}

// function is a function of a signature without results, of these results, and of a body.
func function(signature, results string, body ...string) string {
	if results != "" {
		results += " "
	}
	return "func " + signature + " " + results + block(1, body...)
}

// comment returns a comment of one line, for any text.
func comment(text string) string {
	if text == "" {
		return "//"
	}
	return "// " + printable(text)
}

// documented returns a function with its comment: a description, and its schema as code.
func documented(summary, schema, function string) string {
	return rows(comment(summary), comment(""), "//\t"+printable(schema), function)
}

// printable returns the text, as a Go string literal if it has line breaks or characters that are not visible.
func printable(text string) string {
	for i, r := range text {
		if !strconv.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
			return strconv.Quote(text)
		}
	}
	return text
}
