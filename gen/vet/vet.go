// Package vet is an analyzer for packages of kernels and their callers. It finds
//
//   - calls of kernels that bypass their wrappers, and conversions to interfaces that do,
//   - comments that look like a kernel's mark but are not read,
//   - kernels whose parameters' names contradict the schema's order,
//   - generated files that no longer match the marks or the schema file,
//   - slices, maps and pointers of a tensor that its method Observe never reads.
//
// Each finding ends with its code. A comment allows one for a line, with the reason, at its end or alone above it:
//
//	kernels.Relu(x) //opassert:allow OA201 the benchmark is of the kernel alone
//
// A comment that allows nothing is a finding, too.
package vet

import (
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/opassert/opassert/gen/internal/bind"
)

// Analyzer is the analyzer.
var Analyzer = &analysis.Analyzer{
	Name: "opassert",
	Doc: "check the kernels of operators and the calls of them\n\n" +
		"It reports calls of kernels that bypass their generated wrappers, marks that\n" +
		"are not read, parameters that contradict the schema's order, and generated\n" +
		"files that no longer match.",
	URL:      "https://pkg.go.dev/github.com/opassert/opassert/gen/vet",
	Requires: []*analysis.Analyzer{marks, buildssa.Analyzer},
	Run:      run,
}

// marks reads the marks of a package and of those that it imports. It is a separate analyzer, as
// only it runs on all of these.
var marks = &analysis.Analyzer{
	Name:       "opassertmarks",
	Doc:        "read the marks of kernels, for the analyzer opassert",
	Run:        runMarks,
	ResultType: reflect.TypeFor[*packageKernels](),
	FactTypes:  []analysis.Fact{new(marked)},
}

// marked holds the facts about a marked function, the ops of its marks, and about a package: those of all.
type marked struct{ Ops []string }

func (*marked) AFact() {}

func (m *marked) String() string { return strings.Join(m.Ops, " ") }

// Unit runs the analyzer as go vet -vettool expects, and exits.
func Unit() { unitchecker.Main(Analyzer) }

// IsUnit reports whether a command line is one of go vet's.
func IsUnit(args []string) bool {
	return len(args) > 0 && (args[0] == "-V=full" || args[0] == "-flags" || strings.HasSuffix(args[len(args)-1], ".cfg"))
}

func init() {
	Analyzer.Flags.String("at", "", "the time of the run; the go command keeps what another run reported for a time")
}

// A packageKernels holds the kernels of a package and its imports.
type packageKernels struct {
	ops     func(*types.Func) []string    // of a kernel
	all     func(*types.Package) []string // of all kernels of a package
	reports []analysis.Diagnostic         // about marks
}

func runMarks(pass *analysis.Pass) (any, error) {
	k := &packageKernels{
		ops: func(fn *types.Func) []string {
			var m marked
			pass.ImportObjectFact(fn.Origin(), &m)
			return m.Ops
		},
		all: func(pkg *types.Package) []string {
			var m marked
			pass.ImportPackageFact(pkg, &m)
			return m.Ops
		},
	}
	collecting := *pass
	collecting.Report = func(d analysis.Diagnostic) { k.reports = append(k.reports, d) }
	kernels := map[*types.Func][]string{}
	for _, file := range pass.Files {
		readMarks(&collecting, file, kernels)
	}
	var all marked
	for fn, ops := range kernels {
		pass.ExportObjectFact(fn, &marked{ops})
		all.Ops = append(all.Ops, ops...)
	}
	if slices.Sort(all.Ops); len(all.Ops) > 0 { //mutate:equivalent true: a package without a fact has no ops
		pass.ExportPackageFact(&all)
	}
	return k, nil
}

func run(pass *analysis.Pass) (any, error) {
	k := pass.ResultOf[marks].(*packageKernels)
	found := k.reports
	reported := pass
	collecting := *pass
	collecting.Report = func(d analysis.Diagnostic) { found = append(found, d) }
	pass = &collecting
	for _, file := range pass.Files {
		if bind.IsGenerated(file) {
			k.checkGenerated(pass, file)
		} else {
			k.checkCalls(pass, file)
		}
	}
	k.checkInterfaces(pass)
	checkObserve(pass)
	return nil, excuse(reported, found)
}

func readMarks(pass *analysis.Pass, file *ast.File, kernels map[*types.Func][]string) {
	marks, unread := bind.Marks(file)
	for _, u := range unread {
		report(pass, bind.UnreadMark, u.Pos, "this looks like a kernel's mark but is not read: %s", u.Why)
	}
	inTest := strings.HasSuffix(pass.Fset.Position(file.Package).Filename, "_test.go")
	fit, unfit := bind.Directives(file, pass.TypesInfo)
	for _, u := range unfit {
		report(pass, bind.UnreadMark, u.Pos, "%s", u.Why)
	}
	for _, d := range fit {
		if inTest {
			report(pass, bind.UnreadMark, d.Func.Pos(), "%s: %s can't be in a test file, which no other package can import",
				strings.TrimPrefix(d.Directive, "//"), d.Func.Name())
		}
	}
	for _, m := range marks {
		fn := pass.TypesInfo.Defs[m.Func.Name].(*types.Func)
		switch {
		case inTest:
			report(pass, bind.UnreadMark, m.Pos, "a kernel can't be in a test file, which the wrappers' package can't import")
		case m.Wrong != nil:
			report(pass, bind.UnreadMark, m.Wrong.Pos, "%s", m.Wrong.Why)
		case bind.Uncallable(fn) != "":
			report(pass, bind.UnreadMark, m.Func.Name.Pos(), "kernel %s for %s %s", fn.Name(), m.Op, bind.Uncallable(fn))
		default:
			kernels[fn] = append(kernels[fn], unqualified(m.Op))
		}
	}
}

func unqualified(op string) string { return strings.TrimPrefix(op, "aten::") }

// checkCalls reports references to a kernel of another package, except in tests of the kernels' own package.
func (k *packageKernels) checkCalls(pass *analysis.Pass, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		id, _ := n.(*ast.Ident)
		fn, ok := pass.TypesInfo.Uses[id].(*types.Func)
		if !ok || fn.Pkg() == nil || fn.Pkg().Path() == strings.TrimSuffix(pass.Pkg.Path(), "_test") {
			return true
		}
		if ops := k.ops(fn); len(ops) > 0 {
			report(pass, bind.AroundWrapper, id.Pos(),
				"%s is the kernel of %s: call its generated wrapper, which checks the call", fn.Name(), strings.Join(ops, ", "))
		}
		return true
	})
}

// checkGenerated compares a generated file with the kernels and the schema file.
func (k *packageKernels) checkGenerated(pass *analysis.Pass, file *ast.File) {
	tables := readTables(pass, file)
	list, bound := readKernels(pass, file)
	wrapped := map[*types.Package][]string{}
	for _, row := range bound {
		t := tables[row.table]
		if t == nil || t.op == nil {
			continue
		}
		if why := bind.OutOfOrder(t.op, row.kernel); why != "" && !row.ordered {
			at := pass.Fset.Position(row.kernel.Pos())
			at.Filename = filepath.Base(at.Filename) // the same on every machine
			report(pass, bind.ParameterOrder, row.pos, "%s (%s)", why, at)
		}
		wrapped[row.kernel.Pkg()] = append(wrapped[row.kernel.Pkg()], unqualified(t.Name))
		if !slices.Contains(k.ops(row.kernel), unqualified(t.Name)) {
			report(pass, bind.StaleWrapper, row.pos, "%s is no longer marked as the kernel of %s: run opassert gen again",
				row.kernel.Name(), t.Name)
		}
	}
	byPath := func(a, b *types.Package) int { return strings.Compare(a.Path(), b.Path()) }
	for _, pkg := range slices.SortedFunc(maps.Keys(wrapped), byPath) {
		for _, op := range k.all(pkg) {
			if !slices.Contains(wrapped[pkg], op) {
				report(pass, bind.StaleWrapper, list, "package %s has a kernel of %s, but there is no wrapper here: "+
					"run opassert gen again", pkg.Name(), op)
			}
		}
	}
}
