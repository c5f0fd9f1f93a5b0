package bind

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"

	"github.com/opassert/opassert/internal/dev/must"
)

// A function can have a directive only where its type is the directive's.
func TestUnfitDirectives(t *testing.T) {
	const observer, maker, options = "is not a func(*T, *asserts.Observation, asserts.Level)", "is not a func(maker.Spec) (T, error)", "is not a func() []maker.Option"
	const value = ", of a named type T; around tensors that are values declare a type of your own, with a method Observe"
	for _, tt := range []struct{ decl, want string }{
		{"//opassert:observe\nfunc F(d *other.Device, o *asserts.Observation, l asserts.Level) {}", ""},
		{"//opassert:observe\nfunc (*Tensor) F(d *other.Device, o *asserts.Observation, l asserts.Level) {}", observer},
		{"//opassert:observe\nfunc F(d *other.Device, o *asserts.Observation, l asserts.Level) int { return 0 }", observer},
		{"//opassert:observe\nfunc F(d *other.Device, o *asserts.Observation) {}", observer},
		{"//opassert:observe\nfunc F(d *other.Device, o *int, l asserts.Level) {}", observer},
		{"//opassert:observe\nfunc F(d *other.Device, o *asserts.Observation, l int) {}", observer},
		{"//opassert:observe\nfunc F(d other.Device, o *asserts.Observation, l asserts.Level) {}", observer + value},
		{"//opassert:observe\nfunc F(d *int, o *asserts.Observation, l asserts.Level) {}", observer + value},
		{"//opassert:observe\nfunc f(d *other.Device, o *asserts.Observation, l asserts.Level) {}", "is not exported"},
		{"//opassert:make\nfunc F(s maker.Spec) (*Tensor, error) { return nil, nil }", ""},
		{"//opassert:make\nfunc (*Tensor) F(s maker.Spec) (*Tensor, error) { return nil, nil }", maker},
		{"//opassert:make\nfunc F() (*Tensor, error) { return nil, nil }", maker},
		{"//opassert:make\nfunc F(s int) (*Tensor, error) { return nil, nil }", maker},
		{"//opassert:make\nfunc F(s maker.Spec) *Tensor { return nil }", maker},
		{"//opassert:make\nfunc F(s maker.Spec) (*Tensor, int) { return nil, 0 }", maker},
		{"//opassert:make\nfunc f(s maker.Spec) (*Tensor, error) { return nil, nil }", "is not exported"},
		{"//opassert:options\nfunc F() []maker.Option { return nil }", ""},
		{"//opassert:options\nfunc (*Tensor) F() []maker.Option { return nil }", options},
		{"//opassert:options\nfunc F(int) []maker.Option { return nil }", options},
		{"//opassert:options\nfunc F() ([]maker.Option, error) { return nil, nil }", options},
		{"//opassert:options\nfunc F() maker.Option { return 0 }", options},
		{"//opassert:options\nfunc F() []maker.Spec { return nil }", options},
		{"//opassert:options\nfunc f() []maker.Option { return nil }", "is not exported"},
	} {
		p := checked(t, "example.com/kernels", tensorType+tt.decl)
		fit, unfit := Directives(p.Syntax[0], p.TypesInfo)
		var got string
		for _, u := range unfit {
			got += u.Why
		}
		_, got, _ = strings.Cut(got, ": ")
		want := tt.want
		if want != "" {
			got = strings.TrimPrefix(strings.TrimPrefix(got, "F "), "f ")
		}
		exact := want != "is not exported" // uncallable explains more
		if len(fit)+len(unfit) != 1 || exact && got != want || !strings.HasPrefix(got, want) {
			t.Errorf("%s\n%q, want %q", tt.decl, got, want)
		}
	}
}

// A type of another package is observed by a marked function, and only one.
func TestObserver(t *testing.T) {
	const observe = "//opassert:observe\nfunc Observe(d *other.Device, o *asserts.Observation, l asserts.Level) {}\n"
	const f = "//opassert:kernel f\nfunc F(*other.Device) {}\n"
	const g = "//opassert:kernel f\nfunc F(*Tensor, *other.Device) {}\n"
	one, two := []string{"f(Tensor a) -> ()"}, []string{"f(Tensor a, Tensor b) -> ()"}
	for _, tt := range []struct {
		name, decls, tensor string
		schemas             []string
		want                string
	}{
		{"observed", tensorType + observe + f, "", one, "Observe"},
		{"a method will do", tensorType + "//opassert:kernel f\nfunc F(*Tensor) {}", "", one, ""},
		{"not the named one", tensorType + observe + g, "*example.com/kernels.Tensor", two, "wants *Tensor"},
		{"another type's, beside it", tensorType + observe + g, "*example.com/kernels.Tensor", []string{"f(Tensor a, Device b) -> ()"}, ""},
		{"a maker is none", tensorType + "//opassert:make\nfunc Make(maker.Spec) (*Tensor, error) { return nil, nil }\n//opassert:kernel f\nfunc F(*Tensor) {}\n", "", one, ""},
		{"not observed", tensorType + f, "", one, "write func Observe(t *example.com/other.Device, o *asserts.Observation, level asserts.Level) with the mark //opassert:observe"},
		{"another one's", "type Blind struct{}\n" + observe + "//opassert:kernel f\nfunc F(*Blind) {}\n", "*example.com/kernels.Blind", one, "; implement it, or"},
		{"no kernel takes it", tensorType + observe + "//opassert:kernel f\nfunc F(*Tensor) {}", "", one, "no kernel takes a Tensor as *example.com/other.Device"},
		{"no pointer", "//opassert:kernel f\nfunc F(other.Device) {}\n", "", one, "; implement it, or"},
		{"a pointer to no name", "//opassert:kernel f\nfunc F(*int) {}\n", "", one, "; implement it, or"},
		{"a pointer to a type of Go's own", "//opassert:kernel f\nfunc F(*error) {}\n", "", one, "; implement it, or"},
		{"a pointer to a type beside it", "type Blind struct{}\n//opassert:kernel f\nfunc F(*Blind) {}\n", "", one, "; implement it, or"},
		{"two observers", tensorType + observe + strings.Replace(observe, "Observe(", "Watch(", 1) + f, "", one, "Watch is a second observer; the first is Observe at k.go:"},
		{"an unfit observer", tensorType + "//opassert:observe\nfunc Watch() {}\n" + f, "", one, "opassert:observe: Watch is not a func(*T, "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := checked(t, "example.com/kernels", tt.decls)
			pkg := &Package{Path: p.PkgPath, Name: "kernels", Types: p.Types}
			err := pkg.findKernels(p)
			if err == nil {
				err = pkg.findObserver(p)
			}
			var got string
			if err == nil {
				var wrappers []Wrapper
				if wrappers, _, err = Bind(pkg, ops(t, tt.schemas...), allChecks(t), tt.tensor); err == nil && wrappers[0].Observer != nil {
					got = wrappers[0].Observer.Func.Name()
				}
			}
			if err != nil {
				got = strings.Join(complaints(err), "\n")
			}
			if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("%q, want %q in it", got, tt.want)
			}
		})
	}
}

// Parameters with names of other arguments of the schema are reported.
func TestOutOfOrder(t *testing.T) {
	op := ops(t, "f(Tensor grad_output, Tensor self, int n) -> Tensor")[0]
	for params, want := range map[string]string{
		"gradOutput, self *Tensor, n int":    "",
		"x, y *Tensor, z int":                "",
		"x *Tensor, self int, self2 *Tensor": "",
		"self, gradOutput *Tensor, n int": "parameter 1 of kernel F is named self and gets argument grad_output, while self is argument 2 of " +
			op.Func.String() + ": put the parameters in the schema's order",
		"a, b *Tensor, c int, self *Tensor": "",
	} {
		p := checked(t, "example.com/kernels", tensorType+"func F("+params+") {}")
		if got := OutOfOrder(op, p.Types.Scope().Lookup("F").(*types.Func)); got != want {
			t.Errorf("F(%s): %q, want %q", params, got, want)
		}
	}
}

// Each list of kernels gets the marked functions for its tensors.
func TestPairSuites(t *testing.T) {
	const (
		kernels = "var Kernels []asserts.Kernel\nvar other_ int\nvar Count int\n"
		maker   = "//opassert:make\nfunc Make(maker.Spec) (*Tensor, error) { return nil, nil }\n"
		options = "//opassert:options\nfunc Options() []maker.Option { return nil }\n"
		observe = "//opassert:observe\nfunc Look(*Tensor, *asserts.Observation, asserts.Level) {}\n"
		foreign = "//opassert:observe\nfunc See(*other.Device, *asserts.Observation, asserts.Level) {}\n"
		device  = "//opassert:make\nfunc Make(maker.Spec) (*other.Device, error) { return nil, nil }\n" + foreign
		whole   = tensorType + kernels + maker + options + foreign
	)
	for _, tt := range []struct {
		name  string
		decls []string
		want  string
	}{
		{"all of it", []string{whole + observe + "func F(*Tensor) {}\n"}, "p0.Kernels Make Look Options"},
		{"tensors that are taken", []string{kernels + "func F(*other.Device) {}\n", device}, "p0.Kernels Make See -"},
		{"tensors that are returned", []string{kernels + "func F() *other.Device { return nil }\n", device}, "p0.Kernels Make See -"},
		{"tensors in lists", []string{kernels + "func F([]*other.Device) {}\n", device}, "p0.Kernels Make See -"},
		{"other tensors", []string{kernels + "func F(other.Device) {}\nvar G *other.Device\n", device + options}, "p0.Kernels - - -"},
		{"no list", []string{tensorType + maker + "var kernels []asserts.Kernel\nfunc F(*Tensor) {}\n"}, ""},
		{"two packages", []string{whole + "func F(*Tensor) {}\n", tensorType + kernels + maker + "func F(*Tensor) {}\n"}, "p0.Kernels Make - Options; p1.Kernels Make - -"},
		{"two makers", []string{whole + strings.Replace(maker, "Make", "Again", 1) + "func F(*Tensor) {}\n"},
			"Again is a second function with //opassert:make for the kernels of example.com/p0; the first is at k.go:"},
		{"one observer a package", []string{tensorType + kernels + "func F(*other.Device) {}\n" + device, kernels + "func F(*other.Device) {}\n" + strings.Replace(foreign, "See", "Look", 1)},
			"p0.Kernels Make See -; p1.Kernels Make Look -"},
		{"marked kernels beside a list", []string{whole + "//opassert:kernel f\nfunc F(*Tensor) {}\n"}, "p0.Kernels Make - Options"},
		{"marked kernels without one", []string{tensorType + "//opassert:kernel f\nfunc F(*Tensor) {}\n"}, "F has no wrapper, as opassert gen wrote no package here"},
		{"a maker that makes nothing", []string{tensorType + kernels + "//opassert:make\nfunc Make() {}\nfunc F(*Tensor) {}\n"}, "opassert:make: Make is not a func("},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var loaded []*packages.Package
			for i, decls := range tt.decls {
				loaded = append(loaded, checked(t, "example.com/p"+string(rune('0'+i)), decls))
			}
			suites, err := pairSuites(loaded)
			var got []string
			name := func(f *types.Func) string {
				if f == nil {
					return "-"
				}
				return f.Name()
			}
			for _, s := range suites {
				got = append(got, strings.Join([]string{strings.TrimPrefix(s.Path, "example.com/") + "." + s.Kernels, name(s.Maker), name(s.Observer), name(s.Options)}, " "))
			}
			if err != nil {
				got = complaints(err)
			}
			if text := strings.Join(got, "; "); text != tt.want && (err == nil || !strings.Contains(text, tt.want)) {
				t.Errorf("%q, want %q", text, tt.want)
			}
		})
	}
}

// Of the functions of other packages, those of one that the kernels' package imports are meant.
func TestMarksOfImports(t *testing.T) {
	const device = "//opassert:make\nfunc Make(maker.Spec) (*other.Device, error) { return nil, nil }\n"
	kernels := checked(t, "example.com/p0", "var Kernels []asserts.Kernel\nfunc F(*other.Device) {}\n")
	near := checked(t, "example.com/p1", device)
	far := checked(t, "example.com/p2", strings.Replace(device, "Make", "Again", 1))
	all := []*packages.Package{kernels, far, near}
	if _, err := pairSuites(all); err == nil || !strings.Contains(err.Error(), "Make is a second function with //opassert:make for the kernels of example.com/p0") {
		t.Errorf("of two packages: %v", err)
	}
	kernels.Types.SetImports([]*types.Package{near.Types})
	suites, err := pairSuites(all)
	if err != nil || len(suites) != 1 || suites[0].Maker.Name() != "Make" {
		t.Errorf("of an import: %v, %v", suites, err)
	}
}

// Comments that look like marks, but are at the wrong place or misspelled.
func TestUnreadMarks(t *testing.T) {
	const elsewhere, spelling = "it is not in a function's doc comment", "it is not written like one"
	for src, want := range map[string]string{
		"//opassert:observe\nfunc F() {}":         "",
		"//opassert:observe\n\nfunc F() {}":       elsewhere,
		"//opassert:kernel f\n\nfunc F() {}":      elsewhere,
		"//opassert:kernel: f\n\nfunc F() {}":     spelling,
		"//opassert:kernels f\n\nfunc F() {}":     spelling,
		"//opassert:kernel\tf\n\nfunc F() {}":     elsewhere,
		"// opassert:observe\n\nfunc F() {}":      spelling,
		"// It is opassert:make that\ntype F int": "",
	} {
		file := must.Get(parser.ParseFile(token.NewFileSet(), "a.go", "package p\n\n"+src, parser.ParseComments))(t)
		var got []string
		_, unread := Marks(file)
		for _, u := range unread {
			why, _, _ := strings.Cut(u.Why, ";")
			got = append(got, why)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", src, diff)
		}
	}
}

// checked returns a package of one file, with its types.
func checked(t *testing.T, path, decls string) *packages.Package {
	t.Helper()
	p := &packages.Package{PkgPath: path, Fset: token.NewFileSet(), TypesInfo: &types.Info{Defs: map[*ast.Ident]types.Object{}}}
	file := must.Get(parser.ParseFile(p.Fset, "k.go", source(decls), parser.ParseComments))(t)
	p.Syntax = []*ast.File{file}
	checker := types.Config{Importer: library}
	p.Types = must.Get(checker.Check(path, p.Fset, p.Syntax, p.TypesInfo))(t)
	return p
}

// The tensors of wrappers without a maker are those that have a method Observe, or an observer.
func TestMissingMaker(t *testing.T) {
	const observer = "type Plain struct{}\nfunc See(*Plain, *asserts.Observation, asserts.Level) {}\n"
	for _, tt := range []struct{ name, decls, tensor, home string }{
		{"a method", tensorType + "func Clone(*Tensor) *Tensor { return nil }", "*kernels.Tensor", "example.com/kernels"},
		{"an observer", observer + "func Clone(*Plain) *Plain { return nil }", "*kernels.Plain", "example.com/kernels"},
		{"an observer of others", "type Other struct{}\n" + strings.Replace(observer, "(*Plain", "(*Other", 1) + "func Clone(*Plain) *Plain { return nil }", "*kernels.Other", "example.com/kernels"},
		{"neither", "type Plain struct{}\nfunc Clone(*Plain) *Plain { return nil }", "", ""},
	} {
		p := checked(t, "example.com/kernels", tt.decls)
		var marked []Directed
		if f, ok := p.Types.Scope().Lookup("See").(*types.Func); ok {
			marked = []Directed{{Directive: observeMark, Func: f}}
		}
		if tensor, home := missingMaker(p.Types, marked); tensor != tt.tensor || home != tt.home {
			t.Errorf("%s: %q of %q, want %q of %q", tt.name, tensor, home, tt.tensor, tt.home)
		}
	}
}
