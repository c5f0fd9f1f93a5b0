package vet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/opassert/opassert/gen/internal/bind"
)

// checkObserve reports the fields of a tensor type that lead to memory and that its method Observe,
// and what that calls in the package, never read: no check sees what a kernel shares or writes there.
func checkObserve(pass *analysis.Pass) {
	var all []types.Object // in the order of the files
	functions := map[types.Object]*ast.FuncDecl{}
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				all = append(all, pass.TypesInfo.Defs[fn.Name])
				functions[all[len(all)-1]] = fn
			}
		}
	}
	for _, obj := range all {
		tensor := observedStruct(obj)
		if tensor == nil {
			continue
		}
		r := reader{pass.TypesInfo, functions, map[types.Object]bool{}, map[*types.Var]bool{}}
		r.function(obj)
		for field := range tensor.Fields() {
			if leadsToMemory(field.Type()) && !r.fields[field] {
				report(pass, bind.UnreadField, field.Pos(),
					"%s never reads %s: no check sees what a kernel shares or writes there", obj.Name(), field.Name())
			}
		}
	}
}

// observedStruct returns the struct whose method Observe an object is, or nil.
func observedStruct(obj types.Object) *types.Struct {
	fn, ok := obj.(*types.Func)
	if !ok || fn.Name() != "Observe" || fn.Signature().Recv() == nil || fn.Signature().Params().Len() != 2 ||
		!isAsserts(fn.Signature().Params().At(1).Type(), "Level") {
		return nil
	}
	s, _ := pointee(fn.Signature().Recv().Type()).Underlying().(*types.Struct)
	return s
}

func leadsToMemory(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Pointer:
		return true
	}
	return false
}

// pointee returns the type that a pointer leads to, or the type itself.
func pointee(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// A reader finds the fields that functions of a package read.
type reader struct {
	info      *types.Info
	functions map[types.Object]*ast.FuncDecl
	visited   map[types.Object]bool
	fields    map[*types.Var]bool
}

// function reads a function and those of the package that it refers to.
func (r reader) function(obj types.Object) {
	fn := r.functions[obj]
	if fn == nil || fn.Body == nil || r.visited[obj] {
		return
	}
	r.visited[obj] = true
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			r.function(r.info.Uses[n])
		case *ast.SelectorExpr:
			if s := r.info.Selections[n]; s != nil {
				r.selection(s)
			}
		}
		return true
	})
}

// selection reads the fields on the way to a field or method.
func (r reader) selection(s *types.Selection) {
	way := s.Index()
	if s.Kind() != types.FieldVal {
		way = way[:len(way)-1]
	}
	t := s.Recv()
	for _, i := range way {
		field := pointee(t).Underlying().(*types.Struct).Field(i)
		r.fields[field] = true
		t = field.Type()
	}
}
