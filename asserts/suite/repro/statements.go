package repro

import (
	"embed"
	"strconv"
	"strings"
	"sync"
	"text/template"
)

//go:embed statements
var statementTexts embed.FS

func statementsOf(file string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		functions := template.FuncMap{"indent": indented, "nested": nested, "quote": strconv.Quote}
		return template.Must(template.New("").Funcs(functions).ParseFS(statementTexts, "statements/"+file))
	})
}

func indented(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

// nested returns statements in a block in braces.
func nested(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

type fields map[string]any

func (d *dialect) statement(name string, values any) string {
	var b strings.Builder
	if err := d.statements().ExecuteTemplate(&b, name, values); err != nil {
		panic(err) // the template is embedded
	}
	return b.String()
}

// there is the beginning of the message on a fault, notThere that without one.
const (
	there    = "the fault is there: "
	notThere = "the fault is not there"
)

// verdict ends a program, with a message on whether the fault is there; unless limits what it means that it is not.
func (d *dialect) verdict(fault, says, unless string) string {
	return d.statement("verdict", fields{"fault": fault, "says": there + says, "otherwise": notThere + unless})
}
