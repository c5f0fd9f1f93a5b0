package schema_test

import (
	"errors"
	"go/scanner"
	"testing"

	"github.com/opassert/opassert/schema"
)

// The invariant of all three: an error with a position, or a model that prints back to its text.

func FuzzParseOp(f *testing.F) {
	for _, text := range []string{
		"add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
		"ns::x_(Tensor(a!)[] self, Tensor?[] i, int[2]? s=[0,1], str m=\"(\\\",\") -> ()",
		"v(Tensor(a|b|c -> *) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> (Tensor(a)[] p, SymInt n)",
		"__iand__(Tensor(a!) self, __torch__.torch.classes.x.Y y) -> Tensor(a!)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkOp(t, text, schema.ParseOp) })
}

func FuzzParseDispatcher(f *testing.F) {
	for _, text := range []string{
		"aten::append.t(t[](a!) self, t(c -> *) el, ...) -> ((str, t)[])",
		"a::b(Dict(str, (int, Future(t)?))(a!) d, int[] x=annotate(List[int], []), str s=\" \\n\") -> (Tensor(b|a), ...)",
		"custom::two(Tensor(a)[](b!) x, Union(int, float)? y=1.) -> ...",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkOp(t, text, schema.ParseDispatcher) })
}

func checkOp(t *testing.T, text string, parse func(string) (*schema.Op, error)) {
	op, err := parse(text)
	if err != nil {
		checkErrors(t, err)
		if op != nil {
			t.Fatalf("an op and an error: %s, %v", op, err)
		}
		return
	}
	if op.String() != text {
		t.Fatalf("%q prints as %q", text, op)
	}
	ask(op)
}

// ask calls methods that must not panic for any op.
func ask(op *schema.Op) {
	op.Kind()
	op.Class()
	schema.LintOp(op)
	for _, a := range op.Func.Args {
		a.Type.ListKind()
	}
}

func checkErrors(t *testing.T, err error) {
	var errs scanner.ErrorList
	if !errors.As(err, &errs) || len(errs) == 0 {
		t.Fatalf("no list of errors: %v", err)
	}
	for _, e := range errs {
		if !e.Pos.IsValid() || e.Pos.Column < 1 || e.Msg == "" {
			t.Fatalf("an error without a place: %v", e)
		}
	}
}

func FuzzParseYAML(f *testing.F) {
	for _, text := range []string{
		"- func: add(Tensor self) -> Tensor\n  tags: [core, view_copy]\n  dispatch:\n    CPU, CUDA: k\n  autogen: add.out\n",
		"- func: a_(Tensor(a!) self) -> Tensor(a!)\n  structured_delegate: a.out\n- func: a.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  ufunc_inner_loop:\n    Generic: add (Bool)\n  precomputed:\n  - x -> int y\n",
		"- func: A(A A) -> A\n",
		"- &a {func: 'f() -> ()', variants: \"method\"}\n- *a\n",
	} {
		f.Add([]byte(text))
	}
	tags := schema.NewTagSet("core", "view_copy", "pt2_compliant_tag")
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := schema.Parse("f", src, tags)
		if err != nil {
			checkErrors(t, err)
			if file != nil {
				t.Fatalf("a file and an error: %v", err)
			}
			return
		}
		for _, op := range file.Ops {
			ask(op)
			if again, err := schema.ParseOp(op.String()); err != nil || again.String() != op.String() {
				t.Fatalf("%s does not parse again: %v", op, err)
			}
		}
	})
}
