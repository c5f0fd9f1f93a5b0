package repro

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
)

// The functions that programs contain copies of, in each language.
var (
	//go:embed functions/functions.py
	pythonSource string
	//go:embed functions/functions.cpp
	cppSource string
	//go:embed functions/functions.go
	goSource string

	definitions, cppDefinitions, goDefinitions = definitionsIn(pythonSource), definitionsIn(cppSource),
		definitionsIn(goSource)
)

// A definition is a function or a type that predicates use.
type definition struct{ name, text string }

// declares matches the beginning of a declaration.
var declares = regexp.MustCompile(`(?m)^\w\S* (\w+)[[(: ]`)

// definitionsIn returns the definitions of a source, with the comments above them. They end at
// blank lines, except those before an indented line.
func definitionsIn(source string) (all []definition) {
	for text := range strings.SplitSeq(source, "\n\n") {
		text = "\n" + strings.Trim(text, "\n") + "\n"
		if strings.ContainsAny(text[:2], " \t") {
			all[len(all)-1].text += text
		} else if name := declares.FindStringSubmatch(text); name != nil {
			all = append(all, definition{name[1], text})
		}
	}
	return all
}

// used returns the definitions that a text needs, in order.
func used(definitions []definition, text string) []string {
	var all []string
	wanted := make([]bool, len(definitions))
	for changed := true; changed; {
		changed = false
		for i, d := range definitions {
			if !wanted[i] && slices.ContainsFunc([]string{"(", "[", "<"},
				func(end string) bool { return strings.Contains(text, d.name+end) }) {
				wanted[i], changed = true, true
				text += d.text
			}
		}
	}
	for i, d := range definitions {
		if wanted[i] {
			all = append(all, d.text)
		}
	}
	return all
}
