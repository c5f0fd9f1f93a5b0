package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/slicesx"
)

// table returns the op as data, without the parts that package asserts derives.
func (w *writer) table(name string, p plan.Plan) *jen.Statement {
	op := p.Table()
	first := list(field("Name", jen.Lit(op.Name)), field("Schema", jen.Lit(op.Schema)))
	values := literal(w.asserts("Op"), first)
	if rest := append(w.described(op), w.planned(p, op)...); len(rest) > 0 {
		values = tight(w.asserts("Op"),
			jen.Custom(jen.Options{Open: "{", Close: "\n}", Separator: "\n\t"}, append([]jen.Code{line(first)}, rest...)...))
	}
	return jen.Var().Id(name).Op("=").Add(values)
}

// described returns the line with the facts of the schema file, and a preset's empty list of checks.
func (w *writer) described(op asserts.Op) []jen.Code {
	var fields []jen.Code
	if len(op.Args) > 0 {
		fields = append(fields, field("Args", w.subjects(op.Args)))
	}
	if len(op.Results) > 0 {
		fields = append(fields, field("Results", w.subjects(op.Results)))
	}
	if op.Composite && len(op.Results) > 0 {
		fields = append(fields, field("Composite", jen.True()))
	}
	if len(op.Tags) > 0 {
		fields = append(fields, field("Tags", texts(op.Tags)))
	}
	if op.Checks != nil && len(op.Checks) == 0 { // a preset without checks
		fields = append(fields, field("Checks", w.checks(&op)))
	}
	if len(fields) == 0 {
		return nil
	}
	return []jen.Code{line(list(fields...))}
}

// planned returns the lines with the entries of allowlists and a preset.
func (w *writer) planned(p plan.Plan, op asserts.Op) []jen.Code {
	var lines []jen.Code
	for _, waiver := range p.Waivers() {
		if slices.Contains(op.Waived, waiver.Code) {
			lines = append(lines, comment(fmt.Sprintf("waived: %v %s: %s", waiver.Code, waiver.Code.Name(), strings.Join(strings.Fields(waiver.Reason), " "))))
		}
	}
	if len(op.Waived) > 0 {
		lines = append(lines, line(field("Waived", w.codes(op.Waived))))
	}
	if len(op.Notes) > 0 {
		notes := slicesx.Map(op.Notes, func(n asserts.Excuse) jen.Code {
			return literal(jen.Null(), field("Code", jen.Lit(int(n.Code))), field("Reason", jen.Lit(n.Reason)))
		})
		lines = append(lines, line(field("Notes", slice(w.asserts("Excuse"), notes...))))
	}
	if len(op.Checks) > 0 {
		lines = append(lines, line(field("Checks", w.checks(&op))))
	}
	return lines
}

// checked ends the sentence on the kernel that a function calls: with the promises of the schema
// that are checked. It names no check, so that a new one changes no committed file.
func checked(p plan.Plan) string {
	switch {
	case p.Codes() == 0:
		return "."
	case p.Table().Composite:
		return ", checked as composite."
	}
	return ", checked as " + p.Op.Class().String() + "."
}

// line is a value of a composite literal on lines of its own.
func line(value jen.Code) *jen.Statement { return tight(value, jen.Op(",")) }

func (w *writer) subjects(list []asserts.Subject) *jen.Statement {
	values := slicesx.Map(list, func(s asserts.Subject) jen.Code { return literal(jen.Null(), subject(s)...) })
	return slice(w.asserts("Subject"), values...)
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

func (w *writer) codes(list []asserts.Code) *jen.Statement {
	values := slicesx.Map(list, func(c asserts.Code) jen.Code { return jen.Lit(int(c)) })
	return slice(w.asserts("Code"), values...)
}

func texts(list []string) *jen.Statement {
	values := slicesx.Map(list, func(text string) jen.Code { return jen.Lit(text) })
	return slice(jen.String(), values...)
}

// checks returns the plan of a preset, each check after a comment that describes it.
func (w *writer) checks(op *asserts.Op) *jen.Statement {
	var lines []jen.Code
	for _, c := range op.Checks {
		fields := []jen.Code{field("Code", jen.Lit(int(c.Code))), field("On", jen.Lit(int(c.On)))}
		what := fmt.Sprintf("%v %s on %s", c.Code, c.Code.Name(), op.Subject(c.On).Name)
		if against := op.Subject(c.Against); against != nil {
			fields = append(fields, field("Against", jen.Lit(int(c.Against))))
			what += " against " + against.Name
		}
		lines = append(lines, comment(what), line(literal(jen.Null(), fields...)))
	}
	typ := sliceOf(w.asserts("Check"))
	if len(lines) == 0 {
		return literal(typ)
	}
	return tight(typ, block(2, lines...))
}
