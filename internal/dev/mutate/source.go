package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A condition is a condition in the source.
type condition struct {
	pos     token.Position
	file    string // absolute
	text    string
	excuses map[string]string // why a mutant is equivalent, by way
}

// A mutant is the source with one condition broken one way.
type mutant struct {
	condition
	id          int // of the condition
	way, excuse string
}

// ways are the kinds of mutants of a condition.
var ways = []string{"not", "true", "false"}

func mutantsOf(conditions []condition, part share) []mutant {
	var mutants []mutant
	for id, c := range conditions {
		if !part.holds(c) {
			continue
		}
		for _, way := range ways {
			mutants = append(mutants, mutant{c, id, way, c.excuses[way]})
		}
	}
	return mutants
}

// instrument writes copies of the files in which every condition calls the switch,
// and an overlay that replaces the files by them.
func instrument(files []string, dir string) ([]condition, string, error) {
	replace := map[string]string{}
	var conditions []condition
	for i, file := range files {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, "", err
		}
		src, err := os.ReadFile(abs)
		if err != nil {
			return nil, "", err
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, file, src, parser.ParseComments)
		if err != nil {
			return nil, "", err
		}
		found, err := find(fset, tree, src, abs)
		if err != nil {
			return nil, "", err
		}
		copied := filepath.Join(dir, strconv.Itoa(i)+".go")
		switchFile := filepath.Join(dir, strconv.Itoa(i)+"_switch.go")
		if err := os.WriteFile(copied, switched(src, found, len(conditions)), 0o666); err != nil {
			return nil, "", err
		}
		text := fmt.Appendf(nil, switchSource, tree.Name.Name, variable, recorder)
		if err := os.WriteFile(switchFile, text, 0o666); err != nil {
			return nil, "", err
		}
		replace[abs] = copied
		replace[filepath.Join(filepath.Dir(abs), "mutant_switch.go")] = switchFile
		conditions = append(conditions, found...)
	}
	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	return conditions, overlay, os.WriteFile(overlay, text, 0o666)
}

// variable switches the mutants: "12 true" makes condition 12 true.
// recorder names a file for the values of the conditions.
const (
	variable = "OPASSERT_MUTANT"
	recorder = "OPASSERT_MUTANT_LOG"
)

//go:embed switch.go.txt
var switchSource string

// switched returns the source with mutant(n, ...) around each condition; first is the first one's number.
func switched(src []byte, conditions []condition, first int) []byte {
	opening, closing := map[int]string{}, map[int]string{} // by offset
	for i, c := range conditions {
		opening[c.pos.Offset] += fmt.Sprintf("mutant(%d, ", first+i)
		closing[c.pos.Offset+len(c.text)] += ")"
	}
	var out []byte
	for at := range len(src) {
		out = append(out, closing[at]+opening[at]...)
		out = append(out, src[at])
	}
	return append(out, closing[len(src)]...)
}

// find returns the conditions of a file, in order, an outer one before those in it.
func find(fset *token.FileSet, tree *ast.File, src []byte, file string) ([]condition, error) {
	excuses, err := directives(fset, tree)
	if err != nil {
		return nil, err
	}
	asked := map[ast.Expr]bool{}
	var found []condition
	ast.Inspect(tree, func(n ast.Node) bool {
		if decl, ok := n.(*ast.GenDecl); ok && decl.Tok == token.CONST {
			return false
		}
		for _, e := range operands(n) {
			asked[ast.Unparen(e)] = true
		}
		if e, ok := n.(ast.Expr); ok && (isComparison(e) || asked[e] && !isLogic(e)) {
			from, to := fset.Position(e.Pos()), fset.Position(e.End())
			found = append(found, condition{from, file, string(src[from.Offset:to.Offset]), excuses[from.Line]})
		}
		return true
	})
	for _, c := range found {
		delete(excuses, c.pos.Line)
	}
	for line := range excuses {
		return nil, fmt.Errorf("%s:%d: no condition begins on the line that is excused", file, line)
	}
	return found, nil
}

// operands returns the operands of a node that are conditions.
func operands(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.IfStmt:
		return []ast.Expr{n.Cond}
	case *ast.ForStmt:
		if n.Cond != nil {
			return []ast.Expr{n.Cond}
		}
	case *ast.SwitchStmt:
		var cases []ast.Expr
		for _, c := range n.Body.List {
			if n.Tag == nil {
				cases = append(cases, c.(*ast.CaseClause).List...)
			}
		}
		return cases
	case *ast.BinaryExpr:
		if isLogic(n) {
			return []ast.Expr{n.X, n.Y}
		}
	case *ast.UnaryExpr:
		if isLogic(n) {
			return []ast.Expr{n.X}
		}
	}
	return nil
}

var (
	logic       = []token.Token{token.LAND, token.LOR, token.NOT}
	comparisons = []token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ}
)

func isLogic(e ast.Expr) bool { return slices.Contains(logic, operator(e)) }

func isComparison(e ast.Expr) bool { return slices.Contains(comparisons, operator(e)) }

// operator returns the operator of an expression, ILLEGAL for none.
func operator(e ast.Expr) token.Token {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op
	case *ast.UnaryExpr:
		return e.Op
	}
	return token.ILLEGAL
}

// directives returns the excused mutants of each line, with their reasons.
func directives(fset *token.FileSet, tree *ast.File) (map[int]map[string]string, error) {
	excuses := map[int]map[string]string{}
	for _, group := range tree.Comments {
		for _, comment := range group.List {
			text, ok := strings.CutPrefix(comment.Text, "//mutate:equivalent ")
			if !ok {
				continue
			}
			pos := fset.Position(comment.Pos())
			way, reason, ok := strings.Cut(text, ": ")
			if !ok || !slices.Contains(ways, way) {
				return nil, fmt.Errorf("%v: want //mutate:equivalent WAY: REASON, where WAY is one of %s",
					pos, strings.Join(ways, ", "))
			}
			excuses[pos.Line] = map[string]string{way: reason}
		}
	}
	return excuses, nil
}
