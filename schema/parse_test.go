package schema_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

var tensor = schema.Type{Name: "Tensor"}

func list(t schema.Type, size int) schema.Type {
	return schema.Type{Kind: schema.List, Elem: []schema.Type{t}, Size: size}
}

func optional(t schema.Type) schema.Type {
	return schema.Type{Kind: schema.Optional, Elem: []schema.Type{t}}
}

func written(set string) *schema.Alias { return &schema.Alias{Before: []string{set}, Write: true} }

// TestParseOpModel compares complete models.
func TestParseOpModel(t *testing.T) {
	for _, tt := range []struct {
		text string
		want schema.Function
	}{
		{"f() -> ()", schema.Function{Name: schema.Name{Base: "f"}}},
		{
			"add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
			schema.Function{
				Name: schema.Name{Base: "add", Overload: "out"},
				Args: []schema.Argument{
					{Name: "self", Type: tensor},
					{Name: "other", Type: tensor},
					{Name: "alpha", Type: schema.Type{Name: "Scalar"}, Default: "1", KwargOnly: true},
					{Name: "out", Type: tensor, Alias: written("a"), KwargOnly: true, Out: true},
				},
				Returns: []schema.Return{{Type: tensor, Alias: written("a")}},
			},
		},
		{
			"x_(Tensor(a!)[] self, Tensor?[] i, int[2]? s=None, str m=\"(,\") -> ()",
			schema.Function{
				Name: schema.Name{Base: "x", Inplace: true},
				Args: []schema.Argument{
					{Name: "self", Type: list(tensor, 0), Alias: written("a")},
					{Name: "i", Type: list(optional(tensor), 0)},
					{Name: "s", Type: optional(list(schema.Type{Name: "int"}, 2)), Default: "None"},
					{Name: "m", Type: schema.Type{Name: "str"}, Default: `"(,"`},
				},
			},
		},
		{
			"v(Tensor(a|b|c -> *) self) -> (Tensor(a)[] parts, int n)",
			schema.Function{
				Name: schema.Name{Base: "v"},
				Args: []schema.Argument{
					{Name: "self", Type: tensor, Alias: &schema.Alias{Before: []string{"a", "b", "c"}, After: []string{"*"}}},
				},
				Returns: []schema.Return{
					{Name: "parts", Type: list(tensor, 0), Alias: &schema.Alias{Before: []string{"a"}}},
					{Name: "n", Type: schema.Type{Name: "int"}},
				},
			},
		},
	} {
		op, err := schema.ParseOp(tt.text)
		if err != nil {
			t.Errorf("ParseOp(%q): %v", tt.text, err)
			continue
		}
		ignore := cmp.Options{cmpopts.IgnoreFields(schema.Argument{}, "Pos"), cmpopts.IgnoreFields(schema.Return{}, "Pos"), cmpopts.EquateEmpty()}
		if diff := cmp.Diff(tt.want, op.Func, ignore); diff != "" {
			t.Errorf("ParseOp(%q), want - got +\n%s", tt.text, diff)
		}
		if op.String() != tt.text {
			t.Errorf("ParseOp(%q) prints %q", tt.text, op)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		text string
		want schema.Name
	}{
		{"add", schema.Name{Base: "add"}},
		{"add.Tensor", schema.Name{Base: "add", Overload: "Tensor"}},
		{"add_.Tensor", schema.Name{Base: "add", Inplace: true, Overload: "Tensor"}},
		{"__and__.Scalar", schema.Name{Base: "and", Dunder: true, Overload: "Scalar"}},
		{"__iand__.Scalar", schema.Name{Base: "and", Dunder: true, Inplace: true, Overload: "Scalar"}},
		{"_foo", schema.Name{Base: "_foo"}},
		{"__foo_bar__", schema.Name{Base: "__foo_bar_", Inplace: true}},
		{"add.2d", schema.Name{Base: "add", Overload: "2d"}},
		{"native_batch_norm_functional", schema.Name{Base: "native_batch_norm", Functional: true}},
	} {
		self := "Tensor self"
		ret := "Tensor"
		if tt.want.Inplace {
			self, ret = "Tensor(a!) self", "Tensor(a!)"
		}
		op, err := schema.ParseOp(tt.text + "(" + self + ") -> " + ret)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff(tt.want, op.Func.Name); diff != "" {
			t.Errorf("%s, want - got +\n%s", tt.text, diff)
		}
		if op.Func.Name.String() != tt.text {
			t.Errorf("%s prints as %s", tt.text, op.Func.Name)
		}
		if root, _, _ := strings.Cut(tt.text, "."); op.Func.Name.Root() != root {
			t.Errorf("%s has the root %s, want %s", tt.text, op.Func.Name.Root(), root)
		}
	}
}

// Names that torchgen refuses, or reads differently.
func TestDispatcherNames(t *testing.T) {
	for _, want := range []struct {
		text string
		name schema.Name
	}{
		{"_", schema.Name{Base: "_"}},
		{"_functional", schema.Name{Base: "_functional"}},
		{"__foo", schema.Name{Base: "__foo"}},
		{"foo__", schema.Name{Base: "foo_", Inplace: true}},
		{"____", schema.Name{Base: "___", Inplace: true}},
	} {
		op, err := schema.ParseDispatcher("a::" + want.text + "(Tensor x) -> ()")
		if err != nil {
			t.Errorf("%s: %v", want.text, err)
			continue
		}
		if diff := cmp.Diff(want.name, op.Func.Name); diff != "" {
			t.Errorf("%s, want - got +\n%s", want.text, diff)
		}
	}
}

func TestNamespaces(t *testing.T) {
	for _, tt := range []struct {
		text, name, namespace string
	}{
		{"add.Tensor(Tensor self) -> Tensor", "add.Tensor", "aten"},
		{"aten::add.Tensor(Tensor self) -> Tensor", "add.Tensor", "aten"},
		{"ns::add.Tensor(Tensor self) -> Tensor", "ns::add.Tensor", "ns"},
	} {
		op, err := schema.ParseOp(tt.text)
		if err != nil {
			t.Errorf("ParseOp(%q): %v", tt.text, err)
			continue
		}
		if op.Name() != tt.name || op.Namespace != tt.namespace || op.String() != tt.text {
			t.Errorf("ParseOp(%q) returns %s of %s, printed %q", tt.text, op.Name(), op.Namespace, op)
		}
	}
}

// Valid texts.
func TestParseOpTakes(t *testing.T) {
	for _, text := range []string{
		"f(Tensor?[] indices) -> Tensor",
		"f_(Tensor(a!)?[] self) -> ()",
		"f(Tensor(a!)? x) -> ()",
		"f(Tensor(a -> *)[] xs) -> Tensor(a)[]",
		"f(Tensor(a -> a|b) x) -> Tensor(b)",
		"f(Tensor(a -> b) self) -> Tensor(b)",
		"f(Tensor(a) self) -> Tensor(b|a)",
		"f(SymInt[1]? a=None, SymBool b=True, DeviceIndex c=0, MemoryFormat d=contiguous_format) -> SymInt",
		"f(__torch__.torch.classes.quantized.Conv2dPackedParamsBase w) -> __torch__.torch.classes.x.Y",
		"f(Tensor self, float e=1e-05, int[2] p=[-2,-1], str s='fro', str t=\"\\\"'\\\\\", Scalar u=-1) -> Tensor",
		"f(Tensor self, int x=1, int[] y) -> Tensor",
		"f(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		"f.out(Tensor self, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)",
		"f.out(Tensor self, *, Tensor(a!)[] out) -> ()",
		"where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
		"t_(Tensor(a!) self) -> Tensor(a!)",
		"f(int?? x) -> int[][][]",
		"f.functional(Tensor x) -> Tensor",
		"f(Tensor self, *, int out) -> Tensor",
		"f.out(Tensor x, *, Tensor(a!)[] p, Tensor(b!) q) -> ()",
		// Not tensor options, which a mutable op can't have.
		"f(Tensor(a!) x, *, int a, Layout layout, Device device, bool pin_memory) -> Tensor",
		"f(Tensor(a!) x, *, ScalarType a, Layout b, Device c, bool d) -> Tensor",
		"f(Tensor(a!) x, *, int dtype, int layout, int device, int pin_memory) -> Tensor",
		"f(str[] s=['a',\"b\"], int[] p=(1,2), Tensor? t={}) -> ()",
	} {
		op, err := schema.ParseOp(text)
		if err != nil {
			t.Errorf("ParseOp(%q): %v", text, err)
		} else if op.String() != text {
			t.Errorf("ParseOp(%q) prints %q", text, op)
		}
	}
}

// Messages and positions of errors.
func TestParseOpRefuses(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		// Grammar.
		{"", `1:1: expected an operator name, found the end of the schema`},
		{"add", `1:4: expected "(", found the end of the schema`},
		{"add(Tensor self", `1:16: expected ")", found the end of the schema`},
		{"add(Tensor self) Tensor", `1:18: expected "->", found "Tensor"`},
		{"add(Tensor self) -> ", `1:21: expected a type, found the end of the schema`},
		{"add(Tensor self) -> Tensor x y", `1:30: expected the end of the schema, found "y"`},
		{"add(Tensor) -> Tensor", `1:11: expected the argument's name, found ") -> Tensor"`},
		{"add(Tensor self,) -> Tensor", `1:17: expected a type, found ") -> Tensor"`},
		{"add.(Tensor self) -> Tensor", `1:5: expected an overload name, found "(Tensor self) -> Ten..."`},
		{"a::b::c(Tensor self) -> Tensor", `1:5: expected "(", found "::c(Tensor self) -> ..."`},
		{"add(Tensor self, ...) -> Tensor", `1:18: expected a type, found "...) -> Tensor"`},
		{"1f(Tensor self) -> Tensor", `1:1: expected an operator name, found "1f(Tensor self) -> T..."`},
		{"f() -> ...", `1:8: expected a type, found "..."`},
		{"f(int[2", `1:8: expected "]", found the end of the schema`},
		{"f(int x=", `1:9: expected a default value, found the end of the schema`},
		{"f(int x=5", `1:10: expected ")", found the end of the schema`},
		{"f(int x=f(2)) -> ()", `1:10: expected ")", found "(2)) -> ()"`},
		{"f(Device d=cuda:0) -> Tensor", `1:16: expected ")", found ":0) -> Tensor"`},
		{"add(Tensor self, *, *, int x) -> Tensor", `1:21: a second *: keyword-only arguments begin only once`},
		{"add(Tensor self, int x=) -> Tensor", `1:24: expected a default value, found ") -> Tensor"`},
		{"add(Tensor self, str x=\"a) -> Tensor", `1:24: the string does not end`},
		{"add(Tensor self, int[2] x=[1, 2]) -> Tensor", `1:30: a default value cannot contain ' ': torchgen splits a schema there`},
		{"add(Tensor self, int[2] x=" + strings.Repeat("[", 40) + ") -> Tensor", `1:60: the default value is nested deeper than 32`},
		{"f(" + strings.Repeat("int x, ", 256) + "int y) -> ()", `1:1795: the schema has more than 256 arguments`},
		{"f() -> (" + strings.Repeat("int, ", 256) + "int)", `1:1288: the schema has more than 256 returns`},
		// Spelling.
		{"add(Tensor self,Tensor other) -> Tensor", `1:17: write it as torchgen prints it: add(Tensor self, Tensor other) -> Tensor`},
		{"add(Tensor self) -> Tensor ", `1:27: write it as torchgen prints it: add(Tensor self) -> Tensor`},
		{"add(\tTensor self) -> Tensor", `1:5: write it as torchgen prints it: add(Tensor self) -> Tensor`},
		{"add(Tensor self,\nint x) -> Tensor", `1:17: write it as torchgen prints it: add(Tensor self, int x) -> Tensor`},
		{"add(Tensor self)  -> Tensor", `1:18: write it as torchgen prints it: add(Tensor self) -> Tensor`},
		{"add(Tensor self) -> (Tensor)", `1:21: write it as torchgen prints it: add(Tensor self) -> Tensor`},
		{"add(Tensor self, *) -> Tensor", `1:16: write it as torchgen prints it: add(Tensor self) -> Tensor`},
		{"add(int[02] x) -> Tensor", `1:9: write it as torchgen prints it: add(int[2] x) -> Tensor`},
		// Types.
		{"add(Tensr self) -> Tensor", `1:5: unknown type "Tensr"; did you mean Tensor?`},
		{"add(SymInts self) -> Tensor", `1:5: unknown type "SymInts"; did you mean SymInt?`},
		{"add((int, int) self) -> Tensor", `1:5: a tuple is not a type here`},
		{"add(Dict(int, int) self) -> Tensor", `1:13: expected ")", found ", int) self) -> Tens..."`},
		{"add(int[0] x) -> Tensor", `1:9: 0 is not a size for a list`},
		{"add(int[99999999999999999999] x) -> Tensor", `1:9: 99999999999999999999 is not a size for a list`},
		{"add(int" + strings.Repeat("[]", 40) + " x) -> Tensor", `1:5: the type is nested deeper than 32`},
		{"add(__torch__.torch.classes. x) -> Tensor", `1:28: expected the argument's name, found ". x) -> Tensor"`},
		// Names.
		{"add_out(Tensor self) -> Tensor", `1:1: the name add_out ends in _out, which is reserved: make it the overload, add.out`},
		{"__int__(Tensor self) -> Tensor", `1:1: __int__ looks like an augmented assignment, but Python has no operator nt`},
		{"a_functional_(Tensor(a!) self) -> Tensor(a!)", `1:1: a_functional_ can't be both in-place and _functional`},
		{"_functional(Tensor self) -> Tensor", `1:1: _functional is a suffix with no name before it`},
		{"_(Tensor(a!) self) -> Tensor(a!)", `1:1: _ is a suffix with no name before it`},
		// Alias sets.
		{"v(int(a) self) -> Tensor(a)", `1:6: an alias set directly follows Tensor, not int`},
		{"v(Tensor[](a) self) -> Tensor(a)", `1:11: an alias set directly follows Tensor, not Tensor[]`},
		{"v(Tensor(*) self) -> Tensor", `1:9: (*) is not an alias set here: write (a -> *) on the argument that escapes`},
		{"v(Tensor(ab) self) -> Tensor", `1:9: an alias set is one lower-case letter, not ab`},
		{"v(Tensor(a -> A) self) -> Tensor(a)", `1:9: lower-case letters or * follow ->, not a -> A`},
		{"v(Tensor(a -> *|a) self) -> Tensor(a)", `1:9: lower-case letters or * follow ->, not a -> *|a`},
		{"v(Tensor(a|*) self) -> Tensor(a)", `1:9: an alias set is one lower-case letter, not a|*`},
		{"v(Tensor(a|b!) self) -> Tensor(a)", `1:9: a written argument has one alias set, not a|b!`},
		{"v(Tensor(a|b -> c|d) self) -> Tensor(a)", `1:9: there can't be several alias sets on both sides of ->: a|b -> c|d`},
		{"v(Tensor(a -> ) self) -> Tensor(a)", `1:15: expected an alias set, found ") self) -> Tensor(a)"`},
		{"v(Tensor() self) -> Tensor(a)", `1:10: expected an alias set, found ") self) -> Tensor(a)"`},
		{"v(Tensor(b) self) -> Tensor(a)", `1:22: no argument has the alias set of this return, (a)`},
		{"v(Tensor self) -> Tensor(a)", `1:19: no argument has the alias set of this return, (a)`},
		// Rules of schemas.
		{"add(Tensor self, Tensor self) -> Tensor", `1:18: a second argument is named self`},
		{"add(Tensor self, int x=1, int y) -> Tensor", `1:27: y needs a default value, since x before it has one`},
		{"add(Tensor self, int x=None) -> Tensor", `1:18: None is not a value for x: make the type int?`},
		{"add_(Tensor self) -> Tensor", `1:6: add_ is in-place by its name: write self as Tensor(a!) self`},
		{"add_(Tensor(a!) x) -> Tensor(a!)", `1:1: add_ is in-place by its name, but has no argument self
1:23: only self and out arguments can be returned: make x keyword-only, or don't return it`},
		{"add_(Tensor(a!) self) -> ()", `1:1: an in-place op returns self: -> Tensor(a!)`},
		{"add_(Tensor(a!) self, Tensor(b) x) -> Tensor(b)", `1:39: an in-place op returns self: -> Tensor(a!)`},
		{"add_(Tensor(a!)[] self) -> Tensor(a!)[]", `1:28: an in-place op on Tensor[] returns nothing: -> ()`},
		{"add_(Tensor(a!) self, *, Tensor(b!) out) -> Tensor(a!)", `1:26: add_ is in-place by its name, so it can't have the out argument out`},
		{"add.out(Tensor self, *, Tensor out) -> Tensor", `1:25: an out argument is written: Tensor(a!) out`},
		{"add.out(Tensor self, *, Tensor(a!) out, int x) -> Tensor(a!)", `1:41: x is after the out argument out: out arguments come last`},
		{"add.out(Tensor self, *, Tensor(a!) out) -> ()", `1:1: an out= op returns its out arguments: 1 returns, not 0`},
		{"add.out(Tensor self, *, Tensor(a!) out) -> Tensor", `1:44: return 0 is the out argument out, so its type is Tensor(a!)`},
		{"add.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(b!), Tensor(a!))", `1:57: return 0 is the out argument x, so its type is Tensor(a!)
1:69: return 1 is the out argument y, so its type is Tensor(b!)`},
		{"add.out(Tensor self, *, Tensor(a!)[] out) -> Tensor(a!)[]", `1:46: an op with a list or an optional as out argument returns nothing: -> ()`},
		{"f(Tensor(a!) self) -> (Tensor(a!), Tensor)", `1:36: either all returns are written arguments or none is`},
		{"f(Tensor(a!) self, Tensor(b) x) -> (Tensor(a!), Tensor(b))", `1:49: either all returns are written arguments or none is`},
		{"f(Tensor self, Tensor(a!) x) -> Tensor(a!)", `1:33: only self and out arguments can be returned: make x keyword-only, or don't return it`},
		{"f(Tensor(a) self) -> Tensor(a!)", `1:22: no argument has the annotation (a!) of this return`},
		{"f(Tensor(a!) x, Tensor self) -> Tensor", `1:3: an argument before self can't be written: Tensor(a!) x`},
		{"f(Tensor(a!) x, *, ScalarType dtype, Layout layout, Device device, bool pin_memory) -> Tensor", `1:20: dtype, layout, device and pin_memory are for factory functions, but f is mutable`},
		{"f.functional(Tensor(a!) x) -> Tensor", `1:1: an overload named functional must not write arguments, but f.functional is mutable`},
	} {
		op, err := schema.ParseOp(tt.text)
		if err == nil {
			t.Errorf("ParseOp(%q) = %s, want an error", tt.text, op)
			continue
		}
		if got := allErrors(err); got != tt.want {
			t.Errorf("ParseOp(%q):\n%s\nwant\n%s", tt.text, got, tt.want)
		}
	}
}

// A sample of the forms that a live dispatcher prints.
func TestParseDispatcherTakes(t *testing.T) {
	for _, text := range []string{
		"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
		"aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)",
		"aten::get.default_float(Dict(float, t) self, float key, t default_value) -> t(*)",
		"aten::update.Tensor(Dict(Tensor, t)(a!) self, Dict(Tensor, t)(a!) to_add) -> ()",
		"aten::keys.Tensor(Dict(Tensor, t) self) -> Tensor[](*)",
		"aten::items.str(Dict(str, t) self) -> ((str, t)[])",
		"aten::popitem.str(Dict(str, t)(a!) self) -> ((str, t))",
		"aten::percentFormat(str self, ...) -> str",
		"aten::cpu(Tensor(a) self) -> Tensor(b|a)",
		"aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
		"aten::_unpack_dual(Tensor(a) dual, int level) -> (Tensor(a) primal, Tensor tangent)",
		"aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
		"aten::strip(str self, str chars=\" \\n\\t\\f\\v\") -> str",
		"aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		"aten::linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool keepdim=False) -> Tensor",
		"aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, float d=1., float e=1.0000000000000001e-05) -> Tensor",
		"aten::wait(Future(t) self) -> t",
		"aten::fork(...) -> Future(t)",
		"aten::to_here(RRef(t) self, float timeout=1.) -> t(*)",
		"prim::awaitable_wait(Await(t) self) -> t",
		"prim::unchecked_cast(Union(int, float, NoneType)? x, list y) -> Any",
		"prim::TupleUnpack(Any tup) -> ...",
		"prim::ConstantChunk(...) -> ...",
		"prim::VarConcat(...) -> Tensor",
		"prim::Multi(int x) -> (int, ...)",
		"prim::annotated(int[] x=annotate(List[int], []), Device d=cuda:0, int[][] n=[[1], [2, 3]]) -> ()",
		"c10d::send(Tensor[] _0, __torch__.torch.classes.c10d.ProcessGroup _1, int _2) -> __torch__.torch.classes.c10d.Work _0",
		"_test::get_first(str[][] _0) -> str _0",
		"prims::view_of(Tensor(a) a) -> Tensor",
		"custom::add_(Tensor x) -> Tensor",
		"custom::add_out(Tensor x, *, Tensor out) -> Tensor(b)",
		"custom::two(Tensor(a)[](b!) x, Tensor($0) y) -> ()",
		"custom::writes(Tensor($0! -> ) x, Tensor($1! -> )? y, Tensor($2! -> )[] z) -> ()", // Tensor! x
		"custom::bare(Future f) -> ()",
		"custom::class(__torch__.___torch_mangle_0.Foo x, t1 y) -> (t1, (int, str)?)",
	} {
		op, err := schema.ParseDispatcher(text)
		if err != nil {
			t.Errorf("ParseDispatcher(%q): %v", text, err)
		} else if op.String() != text {
			t.Errorf("ParseDispatcher(%q) prints %q", text, op)
		}
	}
}

func TestParseDispatcherModel(t *testing.T) {
	op := must.Get(schema.ParseDispatcher("aten::two(t[](a!) self, Tensor(a)[](b!) x, Dict(str, (int, t)) d, ...) -> ((int, t)?)"))(t)
	tv := schema.Type{Name: "t"}
	pair := schema.Type{Kind: schema.Tuple, Elem: []schema.Type{{Name: "int"}, tv}}
	want := schema.Function{
		Name: schema.Name{Base: "two"},
		Args: []schema.Argument{
			{Name: "self", Type: list(tv, 0), Alias: &schema.Alias{Before: []string{"a"}, Write: true, Depth: 1}},
			{Name: "x", Type: list(tensor, 0), Alias: &schema.Alias{Before: []string{"a"}, Outer: &schema.Alias{Before: []string{"b"}, Write: true, Depth: 1}}},
			{Name: "d", Type: schema.Type{Kind: schema.Dict, Elem: []schema.Type{{Name: "str"}, pair}}},
		},
		Returns: []schema.Return{{Type: optional(pair)}},
		Vararg:  true,
	}
	ignore := cmp.Options{cmpopts.IgnoreFields(schema.Argument{}, "Pos"), cmpopts.IgnoreFields(schema.Return{}, "Pos")}
	if diff := cmp.Diff(want, op.Func, ignore); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
	if got, want := op.Func.Args[1].String(), "Tensor(a)[](b!) x"; got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
	if got, want := op.Func.Returns[0].String(), "(int, t)?"; got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
}

func TestParseDispatcherRefuses(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"add(Tensor self) -> Tensor", `1:1: the dispatcher's operators have a namespace, as in aten::add`},
		{"a::f(int x=5", `1:13: expected ")", found the end of the schema`},
		{"a::f(Dict(int) x) -> ()", `1:6: Dict takes 2 types, not 1`},
		{"a::f(Future() x) -> ()", `1:6: Future takes 1 types, not 0`},
		{"a::f((Tensor(a), int) x) -> ()", `1:7: the dispatcher does not support an alias set inside another type`},
		{"a::f(" + strings.Repeat("(", 40) + "int x) -> ()", `1:46: the type is nested deeper than 32`},
		{"a::f(..., int x) -> ()", `1:9: expected ")", found ", int x) -> ()"`},
		{"a::f(Tensor(*a) x) -> ()", `1:14: expected ")", found "a) x) -> ()"`},
		{"a::f(Tensor(a", `1:14: expected ")", found the end of the schema`},
		{"a::f() -> (..., int)", `1:15: expected ")", found ", int)"`},
		{"a::f() -> (...)", `1:11: write it as torchgen prints it: a::f() -> ...`},
	} {
		op, err := schema.ParseDispatcher(tt.text)
		if err == nil {
			t.Errorf("ParseDispatcher(%q) = %s, want an error", tt.text, op)
			continue
		}
		if got := allErrors(err); got != tt.want {
			t.Errorf("ParseDispatcher(%q):\n%s\nwant\n%s", tt.text, got, tt.want)
		}
	}
}

// A schema that gives only warnings in a file can be parsed again from the op's String.
func TestParseOpTakesUnknownTypes(t *testing.T) {
	for _, text := range []string{"A(A A) -> A", "add(Complicated[]? x) -> (NpuScale, __torch__.torch.glasses.X)"} {
		if op, err := schema.ParseOp(text); err != nil || op.String() != text {
			t.Errorf("ParseOp(%q) is %v, %v", text, op, err)
		}
	}
}
