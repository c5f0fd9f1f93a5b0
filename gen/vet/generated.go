package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/opassert/opassert/gen"
	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/schema"
)

// A table holds the facts about an op in a generated file.
type table struct {
	bind.Table
	op *schema.Op // nil if the text does not parse
}

// readTables reads the tables of a file, by the names of their variables, and reports those of other schemas.
func readTables(pass *analysis.Pass, file *ast.File) map[string]*table {
	tables := map[string]*table{}
	changed := gen.ChangedSince(pass.Fset.Position(file.Package).Filename)
	for _, t := range bind.Tables(file, pass.TypesInfo) {
		op, _ := schema.ParseOp(t.Schema)
		tables[t.Var] = &table{t, op}
		if why := changed(t.Name, t.Schema); why != "" {
			report(pass, bind.StaleWrapper, t.Pos, "%s: run opassert gen again", why)
		}
	}
	return tables
}

// A row is a kernel with its op's table.
type row struct {
	pos     token.Pos
	table   string
	kernel  *types.Func
	ordered bool // by names
}

// readKernels reads the variable that lists the kernels, and returns its position.
func readKernels(pass *analysis.Pass, file *ast.File) (token.Pos, []row) {
	var at token.Pos
	var rows []row
	bind.Variables(file, func(id *ast.Ident, value *ast.CompositeLit) {
		slice, ok := pass.TypesInfo.TypeOf(value).(*types.Slice)
		if !ok || !isAsserts(slice.Elem(), "Kernel") {
			return
		}
		at = id.Pos()
		for _, elem := range value.Elts {
			if lit, ok := elem.(*ast.CompositeLit); ok {
				rows = append(rows, readRow(pass, lit)...)
			}
		}
	})
	return at, rows
}

func readRow(pass *analysis.Pass, lit *ast.CompositeLit) []row {
	address, ok := bind.Field(lit, "Op").(*ast.UnaryExpr)
	if !ok {
		return nil
	}
	name, ok := address.X.(*ast.Ident)
	function, isSelector := bind.Field(lit, "Func").(*ast.SelectorExpr)
	if !ok || !isSelector {
		return nil
	}
	fn, ok := pass.TypesInfo.Uses[function.Sel].(*types.Func)
	if !ok {
		return nil
	}
	return []row{{lit.Pos(), name.Name, fn, bind.Field(lit, "Order") != nil}}
}

func isAsserts(t types.Type, name string) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg().Path() == "github.com/opassert/opassert/asserts"
}
