package cli

import (
	"cmp"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/schema"
)

var lintCommand = command{
	name:    "lint",
	summary: "find schemas whose name and annotations disagree (OA012)",
	run:     runLint,
}

// A lintFinding is a finding as lint -json prints it.
type lintFinding struct {
	Code    string `json:"code"`
	Op      string `json:"op"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

func runLint(inv *invocation) error {
	source := newSchemaFlags(inv.flags)
	asJSON := newJSONFlag(inv.flags, "array")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	ops, err := source.load(inv)
	if err != nil {
		return err
	}
	findings := []lintFinding{}
	for _, op := range ops {
		for _, f := range schema.LintOp(op) {
			findings = append(findings, lintFinding{
				Code: asserts.SchemaLint.String(), Op: f.Op, File: f.Pos.Filename, Line: f.Pos.Line, Column: f.Pos.Column,
				Message: f.Message, Fix: f.Fix,
			})
		}
	}
	slices.SortStableFunc(findings, func(a, b lintFinding) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if *asJSON {
		err = inv.json(findings)
	} else {
		inv.printLint(findings)
	}
	if err == nil && len(findings) > 0 {
		return errFindings
	}
	return err
}

func (inv *invocation) printLint(findings []lintFinding) {
	for _, f := range findings {
		fix := ""
		if f.Fix != "" {
			fix = "; " + f.Fix
		}
		inv.line("%s:%d:%d: %s %s: %s%s", f.File, f.Line, f.Column, f.Code, f.Op, f.Message, fix)
	}
}
