package report

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/printable"
)

// An object is one of a SARIF log, with the names of properties that its schema has.
type object map[string]any

func message(text string) object { return object{"text": text} }

// WriteSARIF writes the results as a SARIF 2.1.0 log. version is the tool's; files under root are relative to it.
func WriteSARIF(w io.Writer, version, root string, results []asserts.Result) error {
	driver := object{"name": "opassert", "informationUri": "https://github.com/opassert/opassert", "rules": sarifRules()}
	if version != "" {
		driver["version"] = version
	}
	all := []object{}
	for _, r := range results {
		all = append(all, sarifOf(r, root))
	}
	run := object{"tool": object{"driver": driver}, "results": all}
	return printable.JSON(w, object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{run}}, "  ")
}

// sarifRules returns the checks by code, and under Code 0 the rule for results without a check.
func sarifRules() []object {
	rule := func(id, name, short, full string) object {
		return object{"id": id, "name": name, "shortDescription": message(short), "fullDescription": message(full)}
	}
	rules := []object{rule("OA000", "kernel", "a kernel runs to its end",
		"a kernel that crashes, or fails, cannot be checked")}
	for c := range asserts.AllCodes.All() {
		r, help := rule(c.String(), c.Name(), c.Rule(), c.Rule()+"; or else "+c.BreaksPlain()), ""
		for _, s := range c.Symptoms() {
			help += fmt.Sprintf("%s: %s; or else %s; fix: %s\n", s.Symptom.Of(c), s.Rule, s.Breaks, s.Fix)
		}
		if help != "" {
			r["help"] = message(help)
		}
		rules = append(rules, r)
	}
	return rules
}

func sarifOf(r asserts.Result, root string) object {
	kinds := map[asserts.Status][2]string{
		asserts.Violated: {"fail", "error"},
		asserts.Crashed:  {"fail", "error"},
		asserts.Noted:    {"fail", "note"},
		asserts.Known:    {"fail", "note"},
		asserts.Failed:   {"fail", "warning"},
		asserts.Skipped:  {"notApplicable", "none"},
		asserts.Passed:   {"pass", "none"},
	}
	s := object{
		"ruleId":              r.Code.String(),
		"ruleIndex":           1 + slices.Index(slices.Collect(asserts.AllCodes.All()), r.Code), // position in sarifRules
		"kind":                kinds[r.Status][0],
		"level":               kinds[r.Status][1],
		"message":             message(printable.Text(messageOf(r))),
		"partialFingerprints": object{"opassert/v2": keyOf(r)},
	}
	if r.Count != 0 {
		s["occurrenceCount"] = r.Count
	}
	if r.Status == asserts.Known {
		s["baselineState"] = "unchanged"
	}
	at := object{}
	if r.Op != "" {
		at["logicalLocations"] = []object{{"fullyQualifiedName": r.Op, "kind": "function"}}
	}
	if r.Site.File != "" {
		at["physicalLocation"] = object{"artifactLocation": artifact(r.Site.File, root),
			"region": object{"startLine": max(r.Site.Line, 1)}}
	}
	if len(at) > 0 {
		s["locations"] = []object{at}
	}
	if r.Program != "" {
		text := message("a program that shows it without opassert")
		s["attachments"] = []object{{"description": text, "artifactLocation": artifact(r.Program, root)}}
	}
	return s
}

func artifact(file, root string) object {
	if !filepath.IsAbs(file) { // relative to the module, as a Site is
		return object{"uri": (&url.URL{Path: file}).String(), "uriBaseId": "%SRCROOT%"}
	}
	if rel, _ := filepath.Rel(root, file); filepath.IsLocal(rel) {
		return object{"uri": (&url.URL{Path: filepath.ToSlash(rel)}).String(), "uriBaseId": "%SRCROOT%"}
	}
	return object{"uri": (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()}
}
