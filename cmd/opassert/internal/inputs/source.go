package inputs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A file is a Go file of the module.
type file struct {
	fset    *token.FileSet
	text    []byte
	syntax  *ast.File
	imports string
	readers []string // the names of imported packages that read files or the network
	linked  bool     // linkname comments, which name functions of packages that it does not import
}

// read reads a Go file.
func read(dir, name string) (*file, error) {
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &file{fset: token.NewFileSet(), text: text, linked: strings.Contains(string(text), "//go:linkname")}
	if f.syntax, err = parser.ParseFile(f.fset, path, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	for _, spec := range f.syntax.Imports {
		f.imports += f.source(spec) + "\n"
		f.reader(spec)
	}
	return f, nil
}

// reading are packages of the standard library whose calls depend on more than the
// program and its environment.
var reading = []string{
	"archive/zip", "crypto/tls", "crypto/x509", "database/sql", "debug/buildinfo", "debug/elf", "debug/macho", "debug/pe", "debug/plan9obj",
	"go/build", "go/importer", "go/parser", "html/template", "io/fs", "io/ioutil", "log/syslog", "mime",
	"net", "net/http", "net/http/httptest", "net/rpc", "net/rpc/jsonrpc", "net/smtp", "net/textproto",
	"os", "os/exec", "os/user", "path/filepath", "plugin", "syscall", "testing/fstest", "text/template",
}

func (f *file) reader(spec *ast.ImportSpec) {
	imported, _ := strconv.Unquote(spec.Path.Value) // it was parsed
	if !slices.Contains(reading, imported) {
		return
	}
	name := path.Base(imported)
	if spec.Name != nil {
		name = spec.Name.Name
	}
	f.readers = append(f.readers, name)
}

func (f *file) source(n ast.Node) string {
	return string(f.text[f.fset.PositionFor(n.Pos(), false).Offset:f.fset.PositionFor(n.End(), false).Offset])
}

// part is a piece of the file, with its position, which reports show in stacks.
func (f *file) part(n ast.Node) *declaration {
	return &declaration{
		text:   fmt.Sprintf("%v\n%s%s", f.fset.Position(n.Pos()), f.imports, f.source(n)),
		names:  mentioned(n),
		opaque: f.linked || slices.Contains(f.readers, ".") || f.reads(n),
	}
}

// reads reports whether a piece of source uses a package that reads files or the
// network. The environment is in each digest.
func (f *file) reads(n ast.Node) (reads bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, ok := s.X.(*ast.Ident)
			reads = reads || ok && slices.Contains(f.readers, x.Name) && !slices.Contains([]string{"Getenv", "LookupEnv", "Stderr", "Stdout"}, s.Sel.Name)
		}
		return true
	})
	return reads
}

// kernels are the rows of a generated file's list, by op, each with its schema and plan.
func (f *file) kernels(list string) map[string]*declaration {
	values := make(map[string]ast.Expr)
	for _, d := range f.syntax.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				if spec := spec.(*ast.ValueSpec); len(spec.Names) == 1 && len(spec.Values) == 1 {
					values[spec.Names[0].Name] = spec.Values[0]
				}
			}
		}
	}
	rows := make(map[string]*declaration)
	all, _ := values[list].(*ast.CompositeLit)
	if all == nil {
		return nil
	}
	for _, row := range all.Elts {
		fields := fieldsOf(row)
		op, _ := fields["Op"].(*ast.UnaryExpr)
		if op == nil {
			continue
		}
		planned := values[f.source(op.X)]
		name, _ := fieldsOf(planned)["Name"].(*ast.BasicLit)
		if name == nil {
			continue
		}
		key, _ := strconv.Unquote(name.Value) // it was parsed
		rows[key] = &declaration{text: f.imports + f.source(row) + f.source(planned), names: mentioned(fields["Func"])}
	}
	return rows
}

// fieldsOf are the fields of a struct's literal.
func fieldsOf(e ast.Expr) map[string]ast.Expr {
	fields := make(map[string]ast.Expr)
	literal, _ := e.(*ast.CompositeLit)
	if literal == nil {
		return nil
	}
	for _, elt := range literal.Elts {
		if pair, ok := elt.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				fields[key.Name] = pair.Value
			}
		}
	}
	return fields
}
