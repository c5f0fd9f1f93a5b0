package report

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/printable"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	URI     string      `json:"informationUri"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Short sarifText `json:"shortDescription"`
	Full  sarifText `json:"fullDescription"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Kind         string            `json:"kind"`
	Level        string            `json:"level"`
	Baseline     string            `json:"baselineState,omitempty"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations,omitempty"`
	Attachments  []sarifAttachment `json:"attachments,omitempty"`
	Count        int               `json:"occurrenceCount,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifAttachment struct {
	Description sarifText     `json:"description"`
	Artifact    sarifArtifact `json:"artifactLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct {
	Line int `json:"startLine"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

// WriteSARIF writes the results as a SARIF 2.1.0 log. version is the tool's; files under root are
// written relative to it.
func WriteSARIF(w io.Writer, version, root string, results []asserts.Result) error {
	run := sarifRun{
		Tool:    sarifTool{sarifDriver{Name: "opassert", Version: version, URI: "https://github.com/opassert/opassert", Rules: sarifRules()}},
		Results: []sarifResult{},
	}
	for _, r := range results {
		run.Results = append(run.Results, sarifOf(r, root))
	}
	return printable.JSON(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}, "  ")
}

// sarifRules returns the checks by code, and under Code 0 the rule for results without a check.
func sarifRules() []sarifRule {
	rules := []sarifRule{{"OA000", "kernel", sarifText{"a kernel runs to its end"}, sarifText{"a kernel that crashes, or fails, cannot be checked"}}}
	for c := range asserts.AllCodes.All() {
		rules = append(rules, sarifRule{c.String(), c.Name(), sarifText{c.Rule()}, sarifText{c.Rule() + "; or else " + c.BreaksPlain()}})
	}
	return rules
}

func sarifOf(r asserts.Result, root string) sarifResult {
	kinds := map[asserts.Status][2]string{
		asserts.Violated: {"fail", "error"},
		asserts.Crashed:  {"fail", "error"},
		asserts.Noted:    {"fail", "note"},
		asserts.Known:    {"fail", "note"},
		asserts.Failed:   {"fail", "warning"},
		asserts.Skipped:  {"notApplicable", "none"},
		asserts.Passed:   {"pass", "none"},
	}
	s := sarifResult{
		RuleID:       r.Code.String(),
		RuleIndex:    1 + slices.Index(slices.Collect(asserts.AllCodes.All()), r.Code), // position in sarifRules
		Kind:         kinds[r.Status][0],
		Level:        kinds[r.Status][1],
		Message:      sarifText{printable.Text(messageOf(r))},
		Count:        r.Count,
		Fingerprints: map[string]string{"opassert/v2": keyOf(r)},
	}
	if r.Status == asserts.Known {
		s.Baseline = "unchanged"
	}
	var at sarifLocation
	if r.Op != "" {
		at.Logical = []sarifLogical{{r.Op, "function"}}
	}
	if r.Site.File != "" {
		at.Physical = &sarifPhysical{artifact(r.Site.File, root), sarifRegion{max(r.Site.Line, 1)}}
	}
	if at.Logical != nil || at.Physical != nil {
		s.Locations = []sarifLocation{at}
	}
	if r.Program != "" {
		s.Attachments = []sarifAttachment{{sarifText{"a program that shows it without opassert"}, artifact(r.Program, root)}}
	}
	return s
}

func artifact(file, root string) sarifArtifact {
	if !filepath.IsAbs(file) { // relative to the module, as a Site is
		return sarifArtifact{(&url.URL{Path: file}).String(), "%SRCROOT%"}
	}
	if rel, _ := filepath.Rel(root, file); filepath.IsLocal(rel) {
		return sarifArtifact{(&url.URL{Path: filepath.ToSlash(rel)}).String(), "%SRCROOT%"}
	}
	return sarifArtifact{(&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String(), ""}
}
