package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
)

// table is the op as data: what package asserts can't derive from it.
func table(name string, p plan.Plan) *jen.Statement {
	op := p.Table()
	code := jen.Var().Id(name).Op("=").Qual(assertsPath, "Op").Op("{")
	code.Add(field("Name", jen.Lit(op.Name))).Op(",").Add(field("Schema", jen.Lit(op.Schema))).Op(",").Line()
	add := func(name string, value *jen.Statement) { code.Add(field(name, value)).Op(",").Line() }
	if len(op.Args) > 0 {
		add("Args", subjects(op.Args))
	}
	if len(op.Results) > 0 {
		add("Results", subjects(op.Results))
	}
	if op.Composite && len(op.Results) > 0 {
		add("Composite", jen.True())
	}
	if len(op.Tags) > 0 {
		add("Tags", texts(op.Tags))
	}
	for _, w := range p.Waivers() {
		if slices.Contains(op.Waived, w.Code) {
			code.Add(comment(fmt.Sprintf("waived: %v %s: %s", w.Code, w.Code.Name(), strings.Join(strings.Fields(w.Reason), " ")))).Line()
		}
	}
	if len(op.Waived) > 0 {
		add("Waived", codes(op.Waived))
	}
	if op.Checks != nil {
		add("Checks", checks(&op))
	}
	return code.Op("}")
}

// checked ends the sentence on what a function calls: the codes of its checks.
func checked(p plan.Plan) string {
	if codes := p.Codes(); codes != 0 {
		return ", checked by " + codes.String() + "."
	}
	return "."
}

// field is a field of a composite literal.
func field(name string, value jen.Code) *jen.Statement { return jen.Id(name).Op(":").Add(value) }

// lines are the values of a composite literal, each on its own line.
func lines(values ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Multi: true}, values...)
}

// line is a value among lines.
func line(value jen.Code) *jen.Statement { return jen.Add(value).Op(",") }

func subjects(list []asserts.Subject) *jen.Statement {
	var values []jen.Code
	for _, s := range list {
		values = append(values, jen.Values(subject(s)...))
	}
	return jen.Index().Qual(assertsPath, "Subject").Values(values...)
}

func subject(s asserts.Subject) []jen.Code {
	var fields []jen.Code
	add := func(given bool, name string, value jen.Code) {
		if given {
			fields = append(fields, field(name, value))
		}
	}
	add(s.Index > 0, "Index", jen.Lit(s.Index))
	add(true, "Name", jen.Lit(s.Name))
	add(true, "Type", jen.Lit(s.Type))
	add(s.Suffix != "", "Suffix", jen.Lit(s.Suffix))
	add(s.Before != nil, "Before", texts(s.Before))
	add(s.After != nil, "After", texts(s.After))
	add(s.Write, "Write", jen.True())
	add(s.Out, "Out", jen.True())
	add(s.List, "List", jen.True())
	return fields
}

func codes(list []asserts.Code) *jen.Statement {
	var values []jen.Code
	for _, c := range list {
		values = append(values, jen.Lit(int(c)))
	}
	return jen.Index().Qual(assertsPath, "Code").Values(values...)
}

func texts(list []string) *jen.Statement {
	var values []jen.Code
	for _, text := range list {
		values = append(values, jen.Lit(text))
	}
	return jen.Index().String().Values(values...)
}

// checks is the plan of a preset, a line for each check.
func checks(op *asserts.Op) *jen.Statement {
	var values []jen.Code
	for _, c := range op.Checks {
		fields := []jen.Code{field("Code", jen.Lit(int(c.Code))), field("On", jen.Lit(int(c.On)))}
		what := fmt.Sprintf("%v %s on %s", c.Code, c.Code.Name(), op.Subject(c.On).Name)
		if against := op.Subject(c.Against); against != nil {
			fields = append(fields, field("Against", jen.Lit(int(c.Against))))
			what += " against " + against.Name
		}
		values = append(values, line(jen.Values(fields...)).Add(comment(what)))
	}
	return jen.Index().Qual(assertsPath, "Check").Add(lines(values...))
}
