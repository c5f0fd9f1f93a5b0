package emit

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

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
