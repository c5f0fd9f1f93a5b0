package schema_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

const good = "- func: add(Tensor self) -> Tensor\n"

// Messages and positions of errors in files.
func TestParseRefuses(t *testing.T) {
	tags := schema.NewTagSet("inplace_view", "view_copy", "nondeterministic_seeded", "generated")
	for _, tt := range []struct{ name, src, want string }{
		// Not schema files.
		{"empty", "", `f:1:1: the file is empty: expected a list of entries, - func: ...`},
		{"only comments", "# nothing\n\n", `f:1:1: the file is empty: expected a list of entries, - func: ...`},
		{"null document", "---\n", `f:2:1: expected a list of entries, - func: ..., found nothing`},
		{"mapping", "func: add(Tensor self) -> Tensor\n", `f:1:1: expected a list of entries, - func: ..., or a mapping with lists of ops, supported: ..., found a mapping
f:1:1: unknown key "func"`},
		{"text", "add\n", `f:1:1: expected a list of entries, - func: ..., found "add"`},
		{"second document", good + "---\n" + good, `f:2:1: a second YAML document begins here: put all entries into one`},
		{"broken second document", good + "---\n- [\n", `f:4:1: not YAML: did not find expected node content`},
		{"wrong UTF-8", good + "- func: a\xffb\n", `f:2:10: wrong UTF-8: byte 0xff: save the file as UTF-8`},
		{"control character", good + "# a\x00\n", `f:2:4: control character U+0000: remove it`},
		{"C1 control character", "# a\u0081\n", `f:1:4: control character U+0081: remove it`},
		{"syntax", good + "- func: [a\n", `f:2:1: not YAML: did not find expected ',' or ']': put a value with brackets, commas or colons in quotes`},
		{"tab", good + "\t- func: x\n", `f:2:1: not YAML: found a tab character that violates indentation: indent with spaces, not with tabs`},
		{"unknown anchor", "- func: *a\n", `f:1:1: not YAML: unknown anchor 'a' referenced`},
		{"flow nesting", strings.Repeat("[", 20000), `f:1:1: not YAML: exceeded max depth of 10000`},
		{"block nesting", strings.Repeat("- ", 20000) + "a", `f:1:1: not YAML: exceeded max depth of 10000`},

		// YAML aliases, which can expand exponentially.
		{
			"alias bomb",
			"- &a [x, x]\n- &b [*a, *a]\n- &c [*b, *b]\n- func: *c\n",
			`f:1:3: expected an entry with keys, found a list
f:2:3: expected an entry with keys, found a list
f:3:3: expected an entry with keys, found a list
f:4:9: expected a schema, found the YAML alias *c: write it out`,
		},
		{"alias to itself", "- &a [*a]\n- *a\n", `f:1:3: expected an entry with keys, found a list
f:2:3: expected an entry with keys, found the YAML alias *a: write it out`},
		{"alias as key", "- func: &a f() -> ()\n  *a : 1\n", `f:2:3: expected a key, found the YAML alias *a: write it out`},
		{"merge key", "- func: f() -> ()\n  <<: {tags: x}\n", `f:2:3: unknown key "<<"`},

		// Entries.
		{"scalar entry", "- add\n", `f:1:3: expected an entry with keys, found "add"`},
		{"no func", "- variants: function\n", `f:1:3: the entry has no func`},
		{"func is a number", "- func: 5\n", `f:1:9: expected a schema, found "5"`},
		{"func is nothing", "- func:\n", `f:1:8: expected a schema, found nothing`},
		{"unknown key", good + "  variant: function\n", `f:2:3: unknown key "variant"; did you mean variants?`},
		{"unknown key unlike any", good + "  wxyz: function\n", `f:2:3: unknown key "wxyz"`},
		{"duplicate key", good + "  tags: view_copy\n  tags: generated\n", `f:3:3: the key tags is given twice, first in line 2`},
		{"duplicate op", good + "- func: mul(Tensor self) -> Tensor\n" + good, `f:3:9: add is defined twice, first in line 1`},
		{"same signature", good + "- func: add.other(Tensor self) -> Tensor\n", `f:2:9: add.other has the signature of add, in line 1, and is functional too: only the overload names differ`},

		// Positions inside scalars.
		{"in a plain scalar", "- func: add(Tensor self, itn x) -> Tensor\n", `f:1:26: unknown type "itn"; did you mean int?`},
		{"in a quoted scalar", "- func: 'add(Tensor self, itn x) -> Tensor'\n", `f:1:27: unknown type "itn"; did you mean int?`},
		{"after letters of several bytes", "- {python_module: é, func: add(itn x) -> Tensor}\n", `f:1:33: unknown type "itn"; did you mean int?`},
		{"after a byte order mark", "\ufeff- func: add(itn x) -> Tensor\n", `f:1:13: unknown type "itn"; did you mean int?`},
		{"after carriage returns", "- func: f() -> ()\r- func: add(itn x) -> Tensor\r\n", `f:2:13: unknown type "itn"; did you mean int?`},
		{"far along a line of letters of several bytes", "[{python_module: " + strings.Repeat("é", 500) + ", func: f() -> (), x: 1}]\n", `f:1:1037: unknown key "x"`},
		{"in a folded scalar", "- func: >-\n    add(Tensor self,\n    itn x) -> Tensor\n", `f:1:9: unknown type "itn"; did you mean int?`},
		{"in an escaped scalar", "- func: \"add(itn x, str s=\\\"a\\\") -> Tensor\"\n", `f:1:10: unknown type "itn"; did you mean int?`},

		// All errors at once, in order.
		{
			"several",
			"- func: add(Tensr self) -> Tensor\n  variant: x\n- func: mul_(Tensor self) -> Tensor(b)\n  structured: 1\n",
			`f:1:13: unknown type "Tensr"; did you mean Tensor?
f:2:3: unknown key "variant"; did you mean variants?
f:3:14: mul_ is in-place by its name: write self as Tensor(a!) self
f:3:30: no argument has the alias set of this return, (b)
f:4:15: expected structured: True or False, found "1"`,
		},

		// Values.
		{"boolean", good + "  structured: nope\n", `f:2:15: expected structured: True or False, found "nope"`},
		{"quoted boolean", good + "  structured: 'False'\n", `f:2:15: expected structured: True or False, found "False"`},
		{"text of autogen", good + "  autogen: [a]\n", `f:2:12: expected autogen: text, found a list`},
		{"tag", good + "  tags: inplace_veiw\n", `f:2:9: unknown tag "inplace_veiw"; did you mean inplace_view?`},
		{"tags", good + "  tags: [view_copy, foo, {a: b}]\n", `f:2:21: unknown tag "foo"
f:2:26: expected a tag, found a mapping`},
		{"tags with commas", good + "  tags: view_copy, foo\n", `f:2:20: unknown tag "foo"`},
		{"tags of nothing", good + "  tags:\n", `f:2:8: expected tags: a tag or a list of tags, found nothing`},
		{"dropout", "- func: x_dropout(Tensor self) -> Tensor\n", `f:1:9: x_dropout is random, by its name or its arguments: tags: nondeterministic_seeded`},
		{"random", "- func: rand_x(Tensor self) -> Tensor\n", `f:1:9: rand_x is random, by its name or its arguments: tags: nondeterministic_seeded`},
		{"generator", "- func: x(Tensor self, Generator? g=None) -> Tensor\n", `f:1:9: x is random, by its name or its arguments: tags: nondeterministic_seeded`},
		{"autogen", good + "  autogen: add_out\n", `f:2:12: the name add_out ends in _out, which is reserved: make it the overload, add.out`},
		{"autogen", good + "  autogen: a.out, b c\n", `f:2:21: expected the end of the operator name, found "c"`},

		// Dispatch.
		{"dispatch key", good + "  dispatch:\n    CPU, CDUA: f\n", `f:3:10: unknown dispatch key "CDUA"; did you mean CUDA?`},
		{"dispatch key twice", good + "  dispatch:\n    CPU: f\n    CUDA, CPU: g\n", `f:4:11: the dispatch key CPU is given twice`},
		{"dispatch value", good + "  dispatch:\n    CPU: 5\n", `f:3:10: expected the name of a kernel, found "5"`},
		{"dispatch", good + "  dispatch: f\n", `f:2:13: expected dispatch: keys with their kernels, found "f"`},
		{"two composites", good + "  dispatch:\n    CompositeExplicitAutograd: f\n    CompositeImplicitAutograd: g\n", `f:4:5: CompositeImplicitAutograd can't be used with CompositeExplicitAutograd: each serves every backend`},
		{"factory", "- func: zeros(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor\n",
			`f:1:9: the factory function zeros must not decompose: give it a dispatch table with CompositeExplicitAutograd`},
		{"factory by name", "- func: a_like(Tensor self) -> Tensor\n", `f:1:9: the factory function a_like must not decompose: give it a dispatch table with CompositeExplicitAutograd`},
		{"factory by another name", "- func: new_a(Tensor self) -> Tensor\n", `f:1:9: the factory function new_a must not decompose: give it a dispatch table with CompositeExplicitAutograd`},
		{"three composites", good + "  dispatch:\n    CompositeExplicitAutograd: f\n    CompositeImplicitAutograd: g\n    CompositeImplicitAutogradNestedTensor: h\n", `f:4:5: CompositeImplicitAutograd can't be used with CompositeExplicitAutograd: each serves every backend`},
		{"composites, one of them for nested tensors", good + "  dispatch:\n    CompositeExplicitAutogradNonFunctional: f\n    CompositeImplicitAutogradNestedTensor: h\n", `f:4:5: CompositeImplicitAutogradNestedTensor can't be used with CompositeExplicitAutogradNonFunctional: each serves every backend`},
		{"bad schema of a method", "- func: add(Tensr self) -> Tensor\n  variants: method\n", `f:1:13: unknown type "Tensr"; did you mean Tensor?`},
		{"bad schema with a table", "- func: add(Tensr self) -> Tensor\n  dispatch:\n    CompositeImplicitAutograd: add\n", `f:1:13: unknown type "Tensr"; did you mean Tensor?`},
		{"autogen, two things wrong", good + "  autogen: add_out b\n", `f:2:12: the name add_out ends in _out, which is reserved: make it the overload, add.out`},
		{"a list as ExecuTorch's", "- [op, x]\n", `f:1:3: expected an entry with keys, found a list`},

		{"dispatch key of no text", good + "  dispatch:\n    5: f\n", `f:3:5: expected a dispatch key, found "5"`},

		// Other entries.
		{"in-place view", "- func: t_(Tensor(a!) self) -> Tensor(a!)\n  tags: inplace_view\n", `f:1:9: t_ has the tag inplace_view, so the file must have its out-of-place view t; an op without one is not tagged, and is allowed to violate OA013`},
		{"in-place view by name", "- func: t(Tensor(a!) self) -> Tensor(a!)\n  tags: inplace_view\n", `f:1:9: t has the tag inplace_view, but its name does not end in _`},
		{"autogen that is not derived", "- func: a(Tensor self) -> Tensor\n  autogen: a.outt\n  dispatch:\n    CPU: f\n", `f:2:12: autogen lists a.outt, where the rules of PyTorch >=1.13, <2.0 (its tags) derive a.out: the name in the file is used`},
		{"no variant possible", "- func: a(Tensor self) -> (Tensor, int)\n  autogen: a.out\n  dispatch:\n    CPU: f\n", `f:1:9: torchgen derives a.out(Tensor self, *, Tensor(a!) out0) -> int, which is wrong: return 0 is the out argument out0, so its type is Tensor(a!)`},
		{"a derived name is taken", "- func: a(Tensor self) -> Tensor\n  autogen: a.out\n  dispatch:\n    CPU: f\n- func: a.out(Tensor self, int x, *, Tensor(a!) out) -> Tensor(a!)\n", `f:1:9: torchgen derives a.out from this entry, but line 5 already has that name`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, err := schema.Config{Strict: true}.Parse("f", []byte(tt.src), tags)
			if err == nil {
				t.Fatalf("no error, but %d ops", len(file.Ops))
			}
			if diff := cmp.Diff(tt.want, allErrors(err)); diff != "" {
				t.Errorf("want - got +\n%s", diff)
			}
		})
	}
}

// Syntax that may be of an unknown version gives a warning, and does not affect other ops.
func TestWarnings(t *testing.T) {
	const cpu = "  dispatch:\n    CPU: f\n"
	for _, tt := range []struct{ name, src, ops, warnings string }{
		{"a mistyped key", good + "  variant: function\n", "add", `f:2:3: unknown key "variant"; did you mean variants?`},
		{"a key unlike any", good + "  wxyz: {a: [1]}\n- func: mul(Tensor self) -> Tensor\n", "add mul", `f:2:3: unknown key "wxyz"`},
		{"autogen by another name", "- func: a(Tensor self) -> Tensor\n  autogen: a.outt\n" + cpu, "a a.outt",
			`f:2:12: autogen lists a.outt, where the rules of PyTorch >=2.13 (the newest known; -version names another) derive a.out: the name in the file is used`},
		{"autogen of one more", "- func: a(Tensor self) -> Tensor\n  autogen: a.out, a.more_out\n" + cpu, "a a.out a.more_out",
			`f:2:12: autogen lists a.more_out, which the rules of PyTorch >=2.13 (the newest known; -version names another) do not derive: the name in the file is used`},
		{"no variant possible", "- func: a(Tensor self) -> (Tensor, int)\n  autogen: a.out\n" + cpu + good, "a add",
			`f:1:9: torchgen derives a.out(Tensor self, *, Tensor(a!) out0) -> int, which is wrong: return 0 is the out argument out0, so its type is Tensor(a!)`},
		{"autogen of what is there", "- func: a(Tensor self) -> Tensor\n  autogen: a.out\n" + cpu + "- func: a.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n", "a a.out",
			`f:2:12: autogen lists a.out, which the rules of PyTorch >=2.13 (the newest known; -version names another) do not derive: the name in the file is used
f:5:9: torchgen derives a.out from this entry, but line 5 already has that name`},
		{"autogen of a second out", "- func: a(Tensor self) -> Tensor\n" + cpu + "- func: a.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  autogen: a.more_out\n" + cpu, "a a.out a.more_out",
			`f:5:12: autogen lists a.more_out, which the rules of PyTorch >=2.13 (the newest known; -version names another) do not derive: the name in the file is used`},
		{"a derived name is taken", "- func: a(Tensor self) -> Tensor\n  autogen: a.out\n" + cpu + "- func: a.out(Tensor self, int x, *, Tensor(a!) out) -> Tensor(a!)\n", "a a.out",
			`f:1:9: torchgen derives a.out from this entry, but line 5 already has that name`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, err := schema.Parse("f", []byte(tt.src), nil)
			if err != nil {
				t.Fatal(allErrors(err))
			}
			var ops []string
			for _, op := range file.Ops {
				ops = append(ops, op.Name())
			}
			if got := strings.Join(ops, " "); got != tt.ops {
				t.Errorf("ops %s, want %s", got, tt.ops)
			}
			if diff := cmp.Diff(tt.warnings, allErrors(file.Warnings)); diff != "" {
				t.Errorf("want - got +\n%s", diff)
			}
		})
	}
}

// Unusual but valid entries.
func TestParseTakes(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		ops       []string
	}{
		{"empty list", "[]\n", nil},
		{"byte order mark", "\ufeff" + good, []string{"add"}},
		{"carriage returns alone", strings.ReplaceAll(good, "\n", "\r"), []string{"add"}},
		{"carriage returns", strings.ReplaceAll(good+"  variants: method\n", "\n", "\r\n"), []string{"add"}},
		{"document start and end", "---\n" + good + "...\n", []string{"add"}},
		{"keys without value", good + "  python_module:\n  dispatch: ~\n", []string{"add"}},
		{"YAML 1.1 booleans", good + "  device_guard: no\n  manual_cpp_binding: On\n", []string{"add"}},
		{"lone out", "- func: add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n", []string{"add.out"}},
		{"lone scratch", "- func: add.out(Tensor self, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)\n", []string{"add.out"}},
		{"two namespaces", good + "- func: ns::add(Tensor self) -> Tensor\n", []string{"add", "ns::add"}},
		{"other backends", good + "  dispatch:\n    PrivateUse1, SparseCsrXPU: a::b::c::f\n", []string{"add"}},
		{"nested composite", good + "  dispatch:\n    CompositeImplicitAutogradNestedTensor, CompositeExplicitAutograd: f\n", []string{"add"}},
		{"symint kernel", good + "  dispatch:\n    CompositeImplicitAutograd: add_symint\n", []string{"add"}},
		{"autogen of a composite op", good + "  autogen: add.out\n", []string{"add"}},
		{"no tags known", good + "  tags: [anything, at_all]\n", []string{"add"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, err := schema.Parse("f", []byte(tt.src), nil)
			if err != nil {
				t.Fatal(allErrors(err))
			}
			var ops []string
			for _, op := range file.Ops {
				ops = append(ops, op.Name())
			}
			if diff := cmp.Diff(tt.ops, ops); diff != "" {
				t.Errorf("want - got +\n%s", diff)
			}
		})
	}
}

func TestParseTagsRefuses(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"", "t:1:1: the file is empty: expected a list of tags, - tag: ..."},
		{"- tag: 5\n  desc: x\n", `t:1:8: expected tag: text, found "5"`},
		{"- tag: ''\n  desc: x\n", `t:1:8: expected tag: text, found ""`},
	} {
		if _, err := schema.ParseTags("t", []byte(tt.src)); err == nil || allErrors(err) != tt.want {
			t.Errorf("%q: %v, want %s", tt.src, err, tt.want)
		}
	}
}

func TestParseTags(t *testing.T) {
	tags, err := schema.ParseTags("t", []byte("- tag: core\n  desc: x\n- tag: pointwise\n  desc: |\n    y\n"))
	if err != nil {
		t.Fatal(allErrors(err))
	}
	if !tags.Has("core") || !tags.Has("pointwise") || tags.Has("desc") {
		t.Error("the set holds something else than core and pointwise")
	}
	_, err = schema.ParseTags("t", []byte("- tag: a\n- desc: b\n- tag: [c]\n  desc: d\n- tag: a\n  desc: ''\n- x\n- tag: e\n  dsc: f\n"))
	want := `t:1:3: a tag needs the key desc
t:2:3: a tag needs the key tag
t:3:8: expected tag: text, found a list
t:5:8: the tag a is declared twice
t:6:9: expected desc: text, found ""
t:7:3: expected a tag with keys, found "x"
t:8:3: a tag needs the key desc
t:9:3: unknown key "dsc"; did you mean desc?`
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, allErrors(err)); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o644))
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ops.yaml")
	write(t, path, good+"  tags: foo\n")
	if _, err := schema.Load(path, ""); err != nil {
		t.Errorf("without tags.yaml: %v", err)
	}

	tags := filepath.Join(dir, "tags.yaml")
	write(t, tags, "- tag: bar\n  desc: x\n")
	_, err := schema.Load(path, "")
	if want := path + `:2:9: unknown tag "foo"`; err == nil || err.Error() != want {
		t.Errorf("with tags.yaml beside the file: %v, want %s", err, want)
	}

	other := filepath.Join(dir, "other.yaml")
	write(t, other, "- tag: foo\n  desc: x\n")
	file, err := schema.Load(path, other)
	if err != nil {
		t.Fatalf("with the right tags: %v", err)
	}
	if file.Path != path || file.Ops[0].Pos.String() != path+":1:9" {
		t.Errorf("%s has an op at %s, want %[1]s:1:9", file.Path, file.Ops[0].Pos)
	}

	write(t, path, "- func: x(\n")
	write(t, other, "x\n")
	_, err = schema.Load(path, other)
	want := path + `:1:11: expected a type, found the end of the schema` + "\n" + other + `:1:1: expected a list of tags, - tag: ..., found "x"`
	if err == nil {
		t.Fatal("no error for two bad files")
	}
	if diff := cmp.Diff(want, allErrors(err)); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}

	for _, paths := range [][2]string{{filepath.Join(dir, "none.yaml"), ""}, {path, filepath.Join(dir, "none.yaml")}} {
		if _, err := schema.Load(paths[0], paths[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Load(%q, %q): %v, want a file that does not exist", paths[0], paths[1], err)
		}
	}
	if _, err := schema.Load(dir, other); err == nil {
		t.Error("no error for a folder")
	}
}

// A file of 100 MB is refused, after reading up to the limit.
func TestLoadLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.yaml")
	write(t, path, good)
	must.Do(t, os.Truncate(path, 100<<20))
	_, err := schema.Load(path, "")
	if want := path + ":1:1: the file is larger than 16 MiB"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Valid entries cause no errors and no warnings, nor does what is torchgen's alone.
func TestStrictAccepts(t *testing.T) {
	tags := must.Get(schema.ParseTags("t", []byte("- tag: view_copy\n  desc: x\n- tag: nondeterministic_seeded\n  desc: x\n")))(t)
	const out = "- func: a_like(Tensor self) -> Tensor\n  structured_delegate: a_like.out\n- func: a_like.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
	for name, src := range map[string]string{
		"structured factory":         out,
		"delegate of a factory":      out + "  dispatch:\n    CPU: f\n",
		"base class":                 out + "  structured_inherits: TensorIteratorBase\n",
		"a last line of precomputed": out + "  precomputed:\n  - dim -> int x\n",
		"no loops":                   good + "  ufunc_inner_loop: {}\n",
		"a check of devices":         good + "  device_check: ExactSame\n",
		"a default to leave out":     "- func: a(Tensor self, int x=1) -> Tensor\n  cpp_no_default_args: [x]\n",
		"random and tagged":          "- func: rand_x(Tensor self) -> Tensor\n  tags: nondeterministic_seeded\n",
		"random by a given seed":     "- func: _philox_rand(Tensor self) -> Tensor\n",
		"dropout, backward":          "- func: dropout_backward(Tensor self) -> Tensor\n",
		"state of dropout":           "- func: _cudnn_init_dropout_state(Tensor self) -> Tensor\n",
		"dropout as an argument":     "- func: a(Tensor self, float dropout) -> Tensor\n",
		"nothing as tag":             good + "  tags: ''\n",
		"nothing to generate":        good + "  autogen: ''\n",
		"composite and for nested":   good + "  dispatch:\n    CompositeExplicitAutograd: f\n    CompositeImplicitAutogradNestedTensor: g\n",
		"a lone structured out=":     "- func: a.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n",
		"nothing to delegate to":     good + "  structured_delegate: add.out\n",
		"values of torchgen's keys":  good + "  variants: metod\n  device_check: 5\n  precomputed: [a]\n  ufunc_inner_loop: 5\n",
		"a view without its copy":    "- func: v(Tensor(a) self) -> Tensor(a)\n  dispatch: {CPU: f}\n",
		"nothing listed by autogen":  "- func: a_(Tensor(a!) self) -> Tensor(a!)\n  dispatch: {CPU: f}\n",
	} {
		if _, err := (schema.Config{Strict: true}).Parse("f", []byte(src), tags); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// From a certain tag on, an argument makes an op random, too.
func TestRandomByArgument(t *testing.T) {
	tags := schema.NewTagSet("nondeterministic_seeded", "pt2_compliant_tag")
	const byArgument = "- func: a(Tensor self, float dropout_p) -> Tensor\n"
	for _, src := range []string{byArgument, "- func: dropout(Tensor self) -> Tensor\n"} {
		_, err := schema.Config{Strict: true}.Parse("f", []byte(src), tags)
		if err == nil || !strings.Contains(allErrors(err), "is random, by its name or its arguments: tags: nondeterministic_seeded") {
			t.Errorf("%s: %v, want one that says that it is random", src, err)
		}
	}
	if _, err := (schema.Config{Strict: true}).Parse("f", []byte(good), tags); err != nil {
		t.Error(err)
	}
	if _, err := (schema.Config{Strict: true}).Parse("f", []byte(byArgument), nil); err != nil {
		t.Errorf("without tags: %v", err)
	}
}

// Whether an op decomposes follows from its dispatch table.
func TestComposite(t *testing.T) {
	kernels := schema.Config{Kernels: true}
	for _, tt := range []struct {
		config               schema.Config
		src                  string
		implicit, decomposes bool
	}{
		{schema.Config{}, good, true, true},
		{schema.Config{}, good + "  dispatch:\n    CPU: f\n", false, false},
		{schema.Config{}, good + "  dispatch:\n    CompositeImplicitAutograd: f_symint\n", true, true},
		{schema.Config{}, good + "  dispatch:\n    CPU: f\n    CompositeImplicitAutograd: g\n", true, false},
		{schema.Config{}, "- func: add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n", false, false},
		{schema.Config{}, good + "  structured_delegate: add.out\n", false, false},
		{schema.Config{}, good + "  structured_delegate:\n", true, true},
		{kernels, good, false, false},
		{kernels, good + "  dispatch:\n    CompositeImplicitAutograd: f_symint\n", true, true},
	} {
		file := must.Get(tt.config.Parse("f", []byte(tt.src), nil))(t)
		if op := file.Ops[0]; op.CompositeImplicit != tt.implicit || op.Decomposes != tt.decomposes {
			t.Errorf("%s: implicit %t and decomposes %t, want %t and %t", tt.src, op.CompositeImplicit, op.Decomposes, tt.implicit, tt.decomposes)
		}
	}
}
