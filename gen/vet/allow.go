package vet

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/opassert/opassert/gen/internal/bind"
)

// A FindingKind is a kind of problem that the analyzer reports.
type FindingKind = bind.FindingKind

// Findings returns all kinds, ordered by code.
func Findings() []*FindingKind { return bind.Findings }

// ParseFinding returns the kind of finding with a code or name, or nil.
func ParseFinding(text string) *FindingKind { return bind.ParseFinding(text) }

// report reports a finding with its code, which a comment may allow.
func report(pass *analysis.Pass, kind *bind.FindingKind, pos token.Pos, format string, args ...any) {
	text := fmt.Sprintf(format, args...) + " (" + kind.Code + ")"
	pass.Report(analysis.Diagnostic{Pos: pos, Category: kind.Code, Message: text})
}

// A findingLine is a line of a file with a kind of finding.
type findingLine struct {
	file, code string
	line       int
}

// excuse reports the findings that no comment allows, and comments that allow nothing.
func excuse(pass *analysis.Pass, found []analysis.Diagnostic) error {
	at := func(pos token.Pos, code string) findingLine {
		p := pass.Fset.PositionFor(pos, false)
		return findingLine{p.Filename, code, p.Line}
	}
	has := make(map[findingLine]bool)
	for _, d := range found {
		has[at(d.Pos, d.Category)] = true
	}
	excused := make(map[findingLine]bool)
	for _, file := range pass.Files {
		for _, a := range bind.LineAllows(file) {
			kind := bind.ParseFinding(a.Check)
			line, err := excusedLine(pass, file, a)
			if err != nil { //mutate:equivalent false: the go command has just read the file
				return err
			}
			here := at(a.Pos, kind.Code)
			here.line = line
			switch {
			case a.Reason == "":
				pass.Reportf(a.Pos, "want a check and the reason after //opassert:allow: %s has no reason", a.Check)
			case !has[here]:
				pass.Reportf(a.Pos, "this allows nothing: line %d has no finding %s %s; remove it", line, kind.Code, kind.Name)
			}
			excused[here] = true
		}
	}
	for _, d := range found {
		if !excused[at(d.Pos, d.Category)] {
			pass.Report(d)
		}
	}
	return nil
}

// excusedLine returns the line that a comment ends, or else the line after its group of comments.
func excusedLine(pass *analysis.Pass, file *ast.File, a bind.Allow) (int, error) {
	p := pass.Fset.PositionFor(a.Pos, false)
	text, err := pass.ReadFile(p.Filename)
	if err != nil { //mutate:equivalent false: the go command has just read the file
		return 0, err
	}
	before := text[:p.Offset]
	if begin := bytes.LastIndexByte(before, '\n') + 1; len(bytes.TrimSpace(before[begin:])) > 0 {
		return p.Line, nil
	}
	group := slices.IndexFunc(file.Comments, func(g *ast.CommentGroup) bool { return a.Pos < g.End() })
	return pass.Fset.PositionFor(file.Comments[group].End(), false).Line + 1, nil
}
