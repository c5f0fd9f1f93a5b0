package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
)

// table is the op as data.
func table(name string, p plan.Plan) *jen.Statement {
	fields := []jen.Code{
		line(field("Name", jen.Lit(p.QualifiedName()))),
		line(field("Schema", jen.Lit(p.Op.Func.String()))),
	}
	if len(p.Args) > 0 {
		fields = append(fields, line(field("Args", subjects(p.Args))))
	}
	if len(p.Results) > 0 {
		fields = append(fields, line(field("Results", subjects(p.Results))))
	}
	if len(p.Checks) > 0 {
		fields = append(fields, line(field("Checks", checks(p.Checks))))
	}
	return jen.Var().Id(name).Op("=").Qual(assertsPath, "Op").Add(lines(fields...))
}

// field is one of a composite literal.
func field(name string, value jen.Code) *jen.Statement { return jen.Id(name).Op(":").Add(value) }

// lines are the values of a composite literal, each on its own line.
func lines(values ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Multi: true}, values...)
}

// line is a value among lines; comments among them have no comma.
func line(value jen.Code) *jen.Statement { return jen.Add(value).Op(",") }

func subjects(list []asserts.Subject) *jen.Statement {
	var values []jen.Code
	for _, s := range list {
		values = append(values, line(jen.Values(subject(s)...)))
	}
	return jen.Index().Qual(assertsPath, "Subject").Add(lines(values...))
}

func subject(s asserts.Subject) []jen.Code {
	fields := []jen.Code{field("Index", jen.Lit(s.Index)), field("Name", jen.Lit(s.Name)), field("Type", jen.Lit(s.Type))}
	if s.List {
		fields = append(fields, field("List", jen.True()))
	}
	if s.Write {
		fields = append(fields, field("Write", jen.True()))
	}
	return fields
}

// checks is what a wrapper can judge; a meta check needs a second engine.
func checks(list []plan.Check) *jen.Statement {
	var values []jen.Code
	for _, c := range list {
		switch {
		case c.Code.Level() > asserts.Contents:
		case c.Waived != nil:
			values = append(values, waived(c))
		default:
			values = append(values, line(jen.Values(check(c)...)))
		}
	}
	return jen.Index().Qual(assertsPath, "Check").Add(lines(values...))
}

func waived(c plan.Check) *jen.Statement {
	on := c.On
	if c.Against != "" {
		on += " against " + c.Against
	}
	reason := strings.Join(strings.Fields(c.Waived.Reason), " ")
	return comment("waived: " + c.Code.String() + " " + c.Code.Name() + " on " + on + ": " + reason)
}

func check(c plan.Check) []jen.Code {
	fields := []jen.Code{field("Code", jen.Qual(assertsPath, identifiers[c.Code])), field("On", jen.Lit(c.On))}
	if c.Against != "" {
		fields = append(fields, field("Against", jen.Lit(c.Against)))
	}
	return fields
}

// identifiers are the Go constants of the codes: input-impl is InputImpl.
var identifiers = func() (ids [asserts.NumCodes]string) {
	for c := asserts.InputImpl; int(c) < asserts.NumCodes; c++ {
		for word := range strings.SplitSeq(c.Name(), "-") {
			ids[c] += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return ids
}()
