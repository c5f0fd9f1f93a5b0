package bind

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

// bindings binds the one kernel of a source file and returns, for each argument of the schema, the
// name of the kernel's parameter, and its position if the order is not the schema's; or else the
// errors.
func bindings(t *testing.T, decls, text string) string {
	t.Helper()
	pkg, err := find(t, decls)
	if err != nil {
		return strings.Join(complaints(err), "\n")
	}
	op := ops(t, text)
	wrappers, _, err := Bind(pkg, op, allChecks(t), "")
	if err != nil {
		return strings.Join(complaints(err), "\n")
	}
	var got []string
	for i, p := range wrappers[0].Args {
		got = append(got, op[0].Func.Args[i].Name+"="+p.Name)
	}
	if wrappers[0].Order != nil {
		got = append(got, fmt.Sprint(wrappers[0].Order))
	}
	return strings.Join(got, " ")
}

// Arguments are bound by the mark, to a receiver, by name, and by position.
func TestNames(t *testing.T) {
	const out = "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
	const mul = "mul_(Tensor(a!) self, Tensor other) -> Tensor(a!)"
	const sub = "sub(Tensor self, Tensor other) -> Tensor"
	tests := []struct{ name, schema, mark, kernel, want string }{
		{"by place", sub, "", "F(a, b *Tensor) *Tensor", "self=a other=b"},
		{"by place, whatever the names", sub, "", "F(other, self *Tensor) *Tensor", "self=other other=self"},
		{"named in order", sub, "a=self", "F(a, b *Tensor) *Tensor", "self=a other=b"},
		{"one named, others by place", out, "dst=out", "F(dst, a, b *Tensor, n float64)", "self=a other=b alpha=n out=dst [1 2 3 0]"},
		{"two named", out, "dst=out a=other", "F(dst, a, b *Tensor, n float64)", "self=b other=a alpha=n out=dst [2 1 3 0]"},
		{"others by their own names", out, "dst=out", "F(dst, other, self *Tensor, n float64)", "self=self other=other alpha=n out=dst [2 1 3 0]"},
		{"others by their names in camel case", "f(Tensor x, Tensor grad_x, Tensor y) -> ()", "c=y", "F(gradX, c, b *Tensor)", "x=b grad_x=gradX y=c [2 0 1]"},
		{"called as another argument", sub, "self=other", "F(self, b *Tensor) *Tensor", "self=b other=self [1 0]"},
		{"called as each other", sub, "self=other", "F(self, other *Tensor) *Tensor", "self=other other=self [1 0]"},
		{"behind a context", sub, "b=self", "F(c context.Context, a, b *Tensor) *Tensor", "self=b other=a [1 0]"},
		{"the tensor type from a named one", "f(Tensor x, int n) -> ()", "k=n", "F(k int64, x *Tensor)", "x=x n=k [1 0]"},

		{"a receiver, nothing written", sub, "", "(a *Tensor) F(b *Tensor) *Tensor", "self=a other=b [0 1]"},
		{"a receiver, in place", mul, "", "(a *Tensor) F(b *Tensor)", "self=a other=b [0 1]"},
		{"a receiver, written last", out, "", "(dst *Tensor) F(a, b *Tensor, n float64)", "self=a other=b alpha=n out=dst [1 2 3 0]"},
		{"a receiver, a view before", "f(Tensor(a) x, Tensor(b!) y) -> ()", "", "(t *Tensor) F(v *Tensor)", "x=v y=t [1 0]"},
		{"a receiver, named", out, "dst=other", "(dst *Tensor) F(a, out *Tensor, n float64)", "self=a other=dst alpha=n out=out [1 0 3 2]"},
		{"a receiver, what is written is another", mul, "b=self", "(a *Tensor) F(b *Tensor)", "self=b other=a [1 0]"},
		{"a receiver that is the library", sub, "", "(l Lib) F(a, b *Tensor) *Tensor", "self=a other=b"},

		{"no such parameter", sub, "missing=other", "F(a, b *Tensor) *Tensor", "k.go:5:23: kernel F has no parameter missing"},
		{"nearly a parameter", sub, "fist=other", "F(first, b *Tensor) *Tensor", "k.go:5:23: kernel F has no parameter fist; did you mean first?"},
		{"no such argument", sub, "a=others", "F(a, b *Tensor) *Tensor", "k.go:5:23: " + sub + " has no argument others; did you mean other?"},
		{"a parameter twice", sub, "a=other a=self", "F(a, b *Tensor) *Tensor", "k.go:5:31: a=self is the second name of one of them: give each once"},
		{"an argument twice", sub, "a=other b=other", "F(a, b *Tensor) *Tensor", "k.go:5:31: b=other is the second name of one of them: give each once"},
		{"too few", sub, "b=other", "F(b *Tensor) *Tensor", "k.go:6:6: kernel F takes 1 parameter; the schema has 2 arguments: " + sub},
		{"too many", sub, "b=other", "F(a, b, c *Tensor) *Tensor", "k.go:6:6: kernel F takes 3 parameters; the schema has 2 arguments: " + sub},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name, _, _ := strings.Cut(tt.schema, "(")
			decls := strings.Replace(tensorType, "\n", "; type Lib struct{}\n", 1) +
				strings.TrimSpace("//opassert:kernel "+name+" "+tt.mark) + "\nfunc " + tt.kernel + " { panic(0) }"
			if diff := cmp.Diff(tt.want, bindings(t, decls, tt.schema)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A mark is read completely or not at all, and the error has the position of the wrong word.
func TestMarkNames(t *testing.T) {
	const (
		mark = "-17 want one op after the mark: //opassert:kernel add.Tensor; " +
			"parameters in another order follow by name: dst=out, and the wrapper's name after as"
		more = " follows the op: want one op, and after it parameters " +
			"with the schema's arguments, such as dst=out, or the wrapper's name: as Add"
		name  = "want the wrapper's name, with a capital letter, after as: //opassert:kernel f as Add"
		param = ": want a parameter of the kernel before the =, such as dst=out"
		arg   = ": want an argument of the schema after the =, such as dst=out"
	)
	for text, want := range map[string]string{
		" f":               "f [] ",
		" f.out dst=out":   "f.out [{dst out 7}] ",
		"\tf\ta=b  _c1=d ": "f [{a b 3} {_c1 d 8}] ",
		" f as F":          "f [] F",
		" f a=b as F c=d":  "f [{a b 3} {c d 12}] F",
		" f as=b":          "f [{as b 3}] ",
		" f as":            "3 " + name,
		" f as f":          "3 " + name,
		" f as F.G":        "3 " + name,
		"":                 mark,
		" ":                mark,
		"f":                mark,
		" dst=out":         "1 want an op before dst=out: //opassert:kernel add.out dst=out",
		" dst=out f":       "1 want an op before dst=out: //opassert:kernel add.out dst=out",
		" f g":             "3 g" + more,
		" f a=b g":         "7 g" + more,
		" f =b":            "3 =b" + param,
		" f a=":            "5 a=" + arg,
		" f a=b=c":         "5 a=b=c" + arg,
		" f a.b=c":         "3 a.b=c" + param,
		" f a = b":         "3 a" + more,
		" f 1=a":           "3 1=a" + param,
	} {
		m := parseMark(text, 0)
		got := fmt.Sprintf("%s %v %s", m.Op, m.Names, m.As)
		if m.Wrong != nil {
			got = fmt.Sprintf("%d %s", m.Wrong.Pos, m.Wrong.Why)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A parameter bound by position whose name is no argument's may be meant for another argument if
// the op writes.
func TestUnnamed(t *testing.T) {
	const out = "f.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)"
	bad := func(param, arg string) string {
		return "parameter " + param + " of kernel F has the name of no argument and is bound to " + arg +
			" by its position: if another is meant, write it in the mark: //opassert:kernel "
	}
	for _, tt := range []struct{ name, schema, mark, kernel, want string }{
		{"the schema's names", out, "", "F(self *Tensor, n int64, out *Tensor)", ""},
		{"another name", out, "", "F(dst *Tensor, n int64, out *Tensor)", bad("dst", "self") + "f.out dst=out"},
		{"another name later on", out, "", "F(self *Tensor, n int64, dst *Tensor)", bad("dst", "out") + "f.out dst=out"},
		{"another name of a number", out, "", "F(self *Tensor, k int64, out *Tensor)", ""},
		{"the mark says", out, "dst=out", "F(dst *Tensor, n int64, self *Tensor)", ""},
		{"the mark says others", out, "n=n", "F(dst *Tensor, n int64, x *Tensor)", ""},
		{"a receiver", out, "", "(t *Tensor) F(x *Tensor, n int64)", ""},
		{"too many", out, "", "F(self *Tensor, n int64, out, dst *Tensor)", ""},
		{"too few", out, "", "F(dst *Tensor, n int64)", ""},
		{"alone", "f_(Tensor(a!) self) -> Tensor(a!)", "", "F(t *Tensor)", ""},
		{"two, in place", "f_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", "F(t, other *Tensor)", bad("t", "self") + "f_ t=self"},
		{"nothing written", "f(Tensor self, Tensor other) -> Tensor", "", "F(a, b *Tensor)", ""},
		{"a view", "f(Tensor(a) self, Tensor other) -> Tensor(a)", "", "F(a, b *Tensor)", ""},
		{"lists", "f_(Tensor(a!)[] self, Tensor[] other) -> ()", "", "F(self, xs []*Tensor)", bad("xs", "other") + "f_ xs=self"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name, _, _ := strings.Cut(tt.schema, "(")
			mark := strings.TrimSpace("//opassert:kernel " + name + " " + tt.mark)
			pkg := must.Get(find(t, tensorType+mark+"\nfunc "+tt.kernel+" {}"))(t)
			if diff := cmp.Diff(tt.want, Unnamed(ops(t, tt.schema)[0], pkg.Kernels[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}
