package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
	"github.com/opassert/opassert/schema"
)

func runLint(inv *invocation) error {
	source := newSchemaFlags(inv.flags)
	asJSON := newJSONFlag(inv.flags)
	modules := newModuleFlags(inv.flags)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	find := func() ([]torch.LintRow, string, error) { return lintSchemas(inv, &source) }
	if len(modules.names.repeated) > 0 {
		find = func() ([]torch.LintRow, string, error) { return modules.lint(inv) }
	}
	findings, looked, err := find()
	if err != nil {
		return err
	}
	slices.SortStableFunc(findings, func(a, b torch.LintRow) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	counts := make(map[asserts.Status]int)
	for _, f := range findings {
		counts[f.Status]++
	}
	if *asJSON {
		err = inv.json(findings)
	} else {
		for _, f := range findings {
			inv.line("%s", f.Text)
		}
		wrong := []string{report.Count(counts[asserts.Violated], "error"), report.Count(counts[asserts.Noted], "note")}
		wrong = slices.DeleteFunc(wrong, func(text string) bool { return text[0] == '0' })
		inv.line("%s; %s", looked, cmp.Or(strings.Join(wrong, ", "), "nothing wrong"))
	}
	if err == nil && (counts[asserts.Violated] > 0 || *source.strict && len(findings) > 0) {
		return errFindings
	}
	return err
}

// lintSchemas returns the findings in the schemas of a file, and what was looked at.
func lintSchemas(inv *invocation, source *schemaFlags) ([]torch.LintRow, string, error) {
	ops, err := source.load(inv)
	findings := []torch.LintRow{}
	for _, f := range schema.Lint(&schema.File{Ops: ops}) {
		at := asserts.Site{File: f.Pos.Filename, Line: f.Pos.Line}
		fault := asserts.Fault{Code: asserts.SchemaLint, Saw: f.Message, Fix: f.Fix, Site: at}
		findings = append(findings, torch.NewLintRow(f.Op, fault, f.Pos.Column))
	}
	return findings, report.Count(len(ops), "schema"), err
}
