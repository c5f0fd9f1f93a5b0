package schema_test

import (
	"errors"
	"fmt"
	"go/scanner"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
	"github.com/opassert/opassert/testdata/conformance"
)

// quiet are files that torchgen accepts and that have warnings.
var quiet = map[string]bool{"autogen_exists": true, "delegate_elsewhere_alone": true}

// A file that torchgen refuses has an error or a warning at the right position; one that it accepts
// has none.
func TestDemands(t *testing.T) {
	const path = "testdata/demands.txtar"
	archive := must.Get(txtar.ParseFile(path))(t)
	table := must.Get(conformance.Load("2.15.0"))(t)
	tags := must.Get(schema.ParseTags("tags.yaml", table.Tags))(t)
	for i, f := range archive.Files {
		verdict, text, _ := strings.Cut(string(f.Data), "\n")
		var source, want strings.Builder
		for line := range strings.Lines(text) {
			if said, ok := strings.CutPrefix(line, "# "); ok {
				want.WriteString(said)
			} else {
				source.WriteString(line)
			}
		}
		got := said(source.String(), tags)
		if refused := verdict == "# torchgen refuses it"; refused != (got != "") && !quiet[f.Name] {
			t.Errorf("%s: %s, and here is said %q", f.Name, verdict, got)
		}
		if *golden.Update {
			text := verdict + "\n" + source.String()
			for line := range strings.Lines(got) {
				text += "# " + line
			}
			archive.Files[i].Data = []byte(text)
		} else if diff := cmp.Diff(want.String(), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
	}
	if *golden.Update {
		must.Do(t, os.WriteFile(path, txtar.Format(archive), 0o666))
	}
}

// Conditions that testdata/demands.txtar does not cover.
func TestDemandsOfPairs(t *testing.T) {
	tags := schema.NewTagSet("inplace_view", "view_copy")
	for _, tt := range []struct {
		name, src string
		tags      *schema.TagSet
		want      string
	}{
		{"view without a copy", view("foo"), tags, "1:9: torchgen refuses the view foo with a kernel of its own, but without foo_copy, which returns a copy\n"},
		{"view without a copy, without tags", view("foo"), nil, ""},
		{"no tensor is returned", kernelOf("foo(Tensor self) -> bool"), tags, "1:9: torchgen refuses foo: it returns no tensor, so it cannot have an out= variant, but has a kernel of its own\n"},
		{"no tensor is returned, without tags", kernelOf("foo(Tensor self) -> bool"), nil, ""},
		{"functional beside mutable that returns nothing", kernelOf("foo(Tensor self, Tensor(a!) m) -> ()") + kernelOf("foo_functional(Tensor self, Tensor m) -> Tensor"), tags,
			"1:9: torchgen refuses foo: it returns no tensor, so it cannot have an out= variant, but has a kernel of its own\n"},
		{"out= alone that returns nothing", kernelOf("adaptive_avg_pool3d_backward.grad_input(Tensor self, *, Tensor(a!)[] grad_input) -> ()"), tags, ""},

		{"keywords", "- func: can_cast(ScalarType from, ScalarType is) -> bool\n", tags, "1:35: torchgen refuses the argument is: it is a keyword of Python\n"},

		{"namespaces with kernels for other keys", dispatch("foo(Tensor self) -> Tensor", "CPU") + dispatch("custom::foo(Tensor self, int n) -> Tensor", "CUDA"), tags, ""},
		{"namespaces with kernels for one key", dispatch("foo(Tensor self) -> Tensor", "CompositeImplicitAutograd", "CPU") + kernelOf("custom::foo(Tensor self, int n) -> Tensor"), tags,
			"5:9: torchgen refuses custom::foo beside aten::foo, in line 1: it does not distinguish namespaces\n"},

		{"first of two derived is not listed", kernelOf("layout_(Tensor(a!) self) -> Tensor(a!)") + "  autogen: layout\n", tags,
			"4:12: torchgen derives layout, layout.out, and requires the line autogen: layout, layout.out\n"},
		{"autogen on both entries", kernelOf("foo_(Tensor(a!) self, Tensor(b!) m) -> Tensor(a!)") + "  autogen: foo.out\n" + mutable + "  autogen: foo.out\n", tags,
			"8:12: torchgen derives foo.out, foo_functional, and requires the line autogen: foo.out, foo_functional\n"},

		{"functional beside mutable, by its name", mutable + "  autogen: foo.out\n" + kernelOf("foo_functional(Tensor self, Tensor m) -> (Tensor, Tensor m_out)"), tags, ""},
		{"functional beside mutable, alone", mutable + kernelOf("foo.f(Tensor self, Tensor m) -> (Tensor, Tensor m_out)"), tags, ""},
		{"functional beside mutable and out=", mutable + kernelOf("foo.f(Tensor self, Tensor m) -> (Tensor, Tensor m_out)") +
			kernelOf("foo.out(Tensor self, Tensor m, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))"), tags,
			"4:9: torchgen refuses foo.f beside foo, in line 1: the name of the functional variant ends in _functional\n"},

		{"in-place with a kernel beside a view", "- func: foo(Tensor(a) self) -> Tensor(a)\n" + kernelOf("foo_(Tensor(a!) self) -> Tensor(a!)"), tags, ""},
		{"two views, one with a kernel", "- func: foo(Tensor(a) self) -> Tensor(a)\n" + view("foo_scatter"), tags,
			"2:9: torchgen refuses the view foo_scatter with a kernel of its own, but without foo_scatter_copy, which returns a copy\n"},
		{"copy that is derived", view("foo") + kernelOf("foo_copy_(Tensor(a!) self) -> Tensor(a!)") + "  autogen: foo_copy\n" +
			kernelOf("foo_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"), tags, ""},
		{"out= that is derived", kernelOf("foo(Tensor(a) self) -> (int, Tensor(a))") + kernelOf("foo_copy(Tensor self) -> (Tensor, int)") + "  autogen: foo_copy.out\n", tags,
			"1:9: torchgen refuses the view foo with a kernel of its own, but without foo_copy, which returns a copy\n" +
				"4:9: torchgen derives foo_copy.out(Tensor self, *, Tensor(a!) out0) -> int, which is wrong: return 0 is the out argument out0, so its type is Tensor(a!)\n"},
		{"copy without its tag, of a view and its in-place variant", "- func: foo(Tensor(a) self) -> Tensor(a)\n- func: foo_(Tensor(a!) self) -> Tensor(a!)\n  tags: inplace_view\n- func: foo_copy(Tensor self) -> Tensor\n", tags,
			"4:9: torchgen refuses foo_copy, the copy of the view foo: tags: view_copy\n"},
		{"copy by another name", view("foo_scatter") + kernelOf("foo(Tensor self) -> Tensor"), tags,
			"4:9: torchgen refuses foo beside the view foo_scatter, in line 1: its name ends in _copy or _scatter\n"},

		{"factory functions that don't decompose", kernelOf("new_foo.n(Tensor self, int n) -> Tensor") +
			"- func: new_foo(Tensor self) -> Tensor\n  structured_delegate: new_foo.out\n" +
			"- func: new_foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n", tags, ""},
		{"custom class", "- func: foo(__torch__.torch.classes.foo.Bar x) -> Tensor\n", tags, ""},
	} {
		if diff := cmp.Diff(tt.want, said(tt.src, tt.tags)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// mutable is an op that writes an argument and returns a tensor.
var mutable = kernelOf("foo(Tensor self, Tensor(a!) m) -> Tensor")

// view returns the entry of a view with a kernel of its own.
func view(name string) string { return kernelOf(name + "(Tensor(a) self) -> Tensor(a)") }

// kernelOf returns the entry of an op with a kernel for the CPU.
func kernelOf(schema string) string { return dispatch(schema, "CPU") }

// dispatch returns the entry of an op with kernels for the keys.
func dispatch(schema string, keys ...string) string {
	text := "- func: " + schema + "\n  dispatch:\n"
	for _, key := range keys {
		text += "    " + key + ": kernel\n"
	}
	return text
}

// A file written by opassert dump has no warnings of this kind.
func TestDumpMakesNoDemands(t *testing.T) {
	const refused = "torchgen refuses the view foo with a kernel of its own, but without foo_copy, which returns a copy\n"
	tags := schema.NewTagSet()
	for _, tt := range []struct{ head, want string }{
		{"# The operators of libtorch 2.6.0, written by opassert dump.\n", ""},
		{"# The operators of libtorch 2.6.0.\n", "2:9: " + refused},
		{"# A file, written by opassert dump. Edited.\n", "2:9: " + refused},
		{"\n# The operators of libtorch 2.6.0, written by opassert dump.\n", "3:9: " + refused},
		{"--- # A file, written by opassert dump.\n", "2:9: " + refused},
	} {
		if got := said(tt.head+view("foo"), tags); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.head, got, tt.want)
		}
	}
}

// said returns the errors and the warnings of a file, one per line.
func said(source string, tags *schema.TagSet) string {
	file, err := schema.Parse("x.yaml", []byte(source), tags)
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		list = file.Warnings
	}
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%d:%d: %s\n", e.Pos.Line, e.Pos.Column, e.Msg)
	}
	return b.String()
}

// PyTorch's own files have no warnings.
func TestOwnFilesAreWhole(t *testing.T) {
	for _, version := range conformance.Versions {
		table := must.Get(conformance.Load(version))(t)
		for _, w := range parseTable(t, table).Warnings {
			t.Errorf("%s: %v", version, w)
		}
	}
}
