package bind

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/dev/must"
)

// wrapped binds the one kernel of a source file, and returns its wrapper also as text.
func wrapped(t *testing.T, decls, schema string) (Wrapper, string) {
	t.Helper()
	pkg := must.Get(find(t, tensorType+decls))(t)
	wrappers, _, err := Bind(pkg, ops(t, schema), allChecks(t), "")
	if err != nil || len(wrappers) != 1 {
		t.Fatalf("%d wrappers, %v", len(wrappers), err)
	}
	return wrappers[0], describe(wrappers[0], pkg.Types)
}

const (
	inPlace = "add_(Tensor(a!) self, Tensor other) -> Tensor(a!)"
	out     = "add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"
)

// A receiver that is an argument comes first, before a context, and is passed in the order of the
// arguments.
func TestReceivers(t *testing.T) {
	for _, tt := range []struct {
		name, decls, schema, want string
		order                     []int
	}{
		{"what is written", "//opassert:kernel add_\nfunc (t *Tensor) Add(by *Tensor) {}", inPlace,
			"Add(t *Tensor one, by *Tensor one) () '' '' 'call' 'args' 't_'", []int{0, 1}},
		{"what is written, the last argument", "//opassert:kernel add.out\nfunc (t *Tensor) Add(a, b *Tensor) {}", out,
			"Add(t *Tensor one, a *Tensor one, b *Tensor one) () '' '' 'call' 'args' 't_'", []int{1, 2, 0}},
		{"before a context", "//opassert:kernel add_\nfunc (t *Tensor) Add(c context.Context, by *Tensor) {}", inPlace,
			"Add(t *Tensor one, c context.Context, by *Tensor one) () 'c' '' 'call' 'args' 't_'", []int{0, 1}},
		{"the library, before a context", "type Device struct{}\n//opassert:kernel add_\nfunc (d Device) Add(c context.Context, x, by *Tensor) {}", inPlace,
			"Add(d Device, c context.Context, x *Tensor one, by *Tensor one) () 'c' '' 'call' 'args' 't'", nil},
		{"parameters by their names", "//opassert:kernel add.out dst=out\nfunc Add(dst, a, b *Tensor) {}", out,
			"Add(dst *Tensor one, a *Tensor one, b *Tensor one) () '' '' 'call' 'args' 't'", []int{1, 2, 0}},
		{"parameters in the schema's order", "//opassert:kernel add.out dst=out\nfunc Add(a, b, dst *Tensor) {}", out,
			"Add(a *Tensor one, b *Tensor one, dst *Tensor one) () '' '' 'call' 'args' 't'", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, got := wrapped(t, tt.decls, tt.schema)
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if diff := cmp.Diff(tt.order, w.Order); diff != "" {
				t.Errorf("order: %s", diff)
			}
		})
	}
}

// A kernel that does not return what it writes has no checks of returns; any other must return what
// the schema declares.
func TestReturnsNothing(t *testing.T) {
	const written, both = "k.go:6:6: kernel F returns 0 results; the schema has ", "f(Tensor self, Tensor(a!) y) -> (Tensor, Tensor)"
	for _, tt := range []struct {
		decls, schema, want string
		returns             bool // checks of returns
	}{
		{"func F(x, y *Tensor) {}", "f(Tensor(a!) self, Tensor y) -> Tensor(a!)", "F(x *Tensor one, y *Tensor one) () '' '' 'call' 'args' 't'", false},
		{"func F(x, y *Tensor) error { return nil }", "f(Tensor(a!) self, Tensor y) -> Tensor(a!)", "F(x *Tensor one, y *Tensor one) () '' 'err' 'call' 'args' 't'", false},
		{"func F(x, y, z *Tensor) {}", "f(Tensor x, *, Tensor(a!) y, Tensor(b!) z) -> (Tensor(a!), Tensor(b!))", "F(x *Tensor one, y *Tensor one, z *Tensor one) () '' '' 'call' 'args' 't'", false},
		{"func F(x, y *Tensor) *Tensor { return x }", "f(Tensor(a!) self, Tensor y) -> Tensor(a!)", "F(x *Tensor one, y *Tensor one) (result *Tensor one) '' '' 'call' 'args' 't'", true},
		{"func F(x, y *Tensor) {}", both, written + "2 returns: " + both, false},
		{"func F(x *Tensor) {}", "f(Tensor(a) self) -> Tensor(a)", written + "1 return: f(Tensor(a) self) -> Tensor(a)", false},
		{"func F(x *Tensor) error { return nil }", "f(Tensor x) -> Tensor", written + "1 return: f(Tensor x) -> Tensor", false},
	} {
		decls := "//opassert:kernel f\n" + tt.decls
		if got := bound(t, tensorType+decls, "", tt.schema); !cmp.Equal(got, []string{tt.want}) {
			t.Errorf("%s for %s: %q, want %q", tt.decls, tt.schema, got, tt.want)
			continue
		}
		if tt.want[:2] == "k." {
			continue
		}
		w, _ := wrapped(t, decls, tt.schema)
		if got := checksReturns(w.Plan); got != tt.returns {
			t.Errorf("%s for %s: checks of returns %v, want %v", tt.decls, tt.schema, got, tt.returns)
		}
	}
}

func checksReturns(p plan.Plan) bool {
	for _, c := range p.Checks {
		if _, ok := c.On.Result(); ok {
			return true
		}
	}
	return false
}

// A wrapper's results are named if all of the kernel's are.
func TestNamedResults(t *testing.T) {
	for results, want := range map[string]bool{
		"(x *Tensor, err error)": true,
		"(*Tensor, error)":       false,
		"(_ *Tensor, err error)": false,
		"(x *Tensor, _ error)":   false,
	} {
		if w, _ := wrapped(t, "//opassert:kernel f\nfunc F(*Tensor) "+results+" { panic(0) }", "f(Tensor self) -> Tensor"); w.NamedResults != want {
			t.Errorf("%s: %v, want %v", results, w.NamedResults, want)
		}
	}
}

// The debug build includes the user's tags.
func TestDebugBuild(t *testing.T) {
	for flags, want := range map[string]string{
		"":                      "-tags=opassert",
		"-mod=mod":              "-tags=opassert",
		"-mod=mod -tags=cuda,x": "-tags=opassert,cuda,x",
		"--tags=cuda -trimpath": "-tags=opassert,cuda",
	} {
		t.Setenv("GOFLAGS", flags)
		if got := DebugBuild(); got != want {
			t.Errorf("GOFLAGS=%s: %s, want %s", flags, got, want)
		}
	}
}

// Packages of opassert itself are ignored, whatever they contain.
func TestSuitesOfOpassert(t *testing.T) {
	dir := t.TempDir()
	const text = "// Code generated by opassert; DO NOT EDIT.\n\npackage ops\n\nvar x y\n"
	for module, broken := range map[string]bool{"github.com/opassert/opassert/lib": false, "github.com/opassert/opasserted": true} {
		writeFiles(t, dir, map[string]string{"go.mod": "module " + module + "\n\ngo 1.26\n", "ops/opassert_gen.go": text})
		if suites, err := Suites(dir, "./..."); suites != nil || (err != nil) != broken {
			t.Errorf("%s: %v, %v", module, suites, err)
		}
	}
}
