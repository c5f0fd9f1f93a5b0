package repro

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
)

// library is a Go library whose kernels have the parameters of a schema with these types, after a
// context and with an error if returns asks for it.
func library(op string, returns int, types ...string) *Module {
	fn := &engine.GoFunction{Name: "example.com/v/kernels.F", Returns: returns}
	for i, t := range types {
		fn.Inputs = append(fn.Inputs, engine.Input{Argument: i, Type: t})
	}
	return &Module{
		Kernels:  map[string]*engine.GoFunction{op: fn},
		Packages: map[string]*TensorFunctions{op: {Maker: `"example.com/v".FromSpec`}},
	}
}

const vector = `*"example.com/v".Vector`

// goExamples are a library and a fault for the special features of Go programs.
func goExamples() map[string]struct {
	*Module
	Problem
} {
	type example = struct {
		*Module
		Problem
	}
	method := library("x::m_", 1, vector, vector, `"example.com/v".Kind`)
	method.Kernels["x::m_"] = &engine.GoFunction{
		Name: "example.com/v/kernels.(*Device).Run", Returns: 1, Fails: true, Variadic: true,
		Inputs: []engine.Input{
			{Argument: engine.ReceiverInput, Type: `*"example.com/v/kernels".Device`}, {Argument: engine.ContextInput, Type: `"context".Context`},
			{Argument: 0, Type: vector}, {Argument: 2, Type: "*float32"}, {Argument: 1, Type: "[]" + vector},
		},
	}
	*method.Packages["x::m_"] = TensorFunctions{Maker: `"example.com/other/v".FromSpec`, Observe: `"example.com/v".Observe`, Options: `"example.com/v".Options`}
	crash := examples["crash"]
	crash.Finding = nil
	return map[string]example{
		"go-alias":          {library("x::f", 1, vector), examples["undeclared-alias"]},
		"go-beside":         {library("aten::f.out", 1, vector, vector), examples["write-beside"]},
		"go-crash":          {library("aten::f", 1, vector), crash},
		"go-earlier-values": {library("x::f", 1, vector, "[]"+vector), examples["earlier-values"]},
		"go-earlier-other":  {library("x::f", 1, vector, "int64"), examples["earlier-other"]},
		"go-method": {method, finding("x::m_", "m_(Tensor(a!) self, Tensor[] others, float? p=None, int[2] n=1) -> Tensor(a!)", `{self: "float32[2]", others: "[float64[100], same:self, none]", p: "-Inf"}`,
			asserts.ReturnedSelf, result(0, "result"), argument(0, "self"))},
		"go-values": {library("x::f", 0, vector, "[]int", "bool", "interface {}", "string", "*int64", "complex128"), finding("x::f", "f(Tensor(a!) type, int[] n=[1,2], bool b=True, Scalar s=3, str m='a b', int? i=None, complex c=0) -> Tensor(a!)",
			`{type: "complex64[1]", i: "4", c: "1+2i"}`, asserts.VersionBump, argument(0, "type"), asserts.Place{})},
	}
}

// Go programs are those of the golden files, and Go parses them.
func TestGoPrograms(t *testing.T) {
	for name, e := range goExamples() {
		t.Run(name, func(t *testing.T) {
			text := must.Get((Source{Version: "Go kernels", Go: e.Module}).goText(e.Problem))(t)
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
				t.Error(err)
			}
			_, got, _ := strings.Cut(text, "\n\n")
			golden.Compare(t, name+".txt", got)
		})
	}
}

// A value without a literal in Go is named.
func TestNoGoProgram(t *testing.T) {
	alias := func(schema, recipe string) Problem {
		return finding("x::f", schema, recipe, asserts.UndeclaredAlias, result(0, "result"), argument(0, "self"))
	}
	inside := finding("x::f", unary, `{self: "float32[1]"}`, asserts.UndeclaredWrite, asserts.Place{Name: "self.parts", Inside: true, Called: "values", Element: asserts.NoElement}, asserts.Place{})
	for want, e := range map[string]struct {
		*Module
		Problem
	}{
		"argument d: int8 has no literal in Go":                                                {library("x::f", 1, vector, "any"), alias("f(Tensor self, ScalarType d) -> Tensor", `{self: "float32[1]", d: "dtype:int8"}`)},
		"argument y: the op of the library that makes the view is unknown":                     {library("x::f", 1, vector, vector), alias("f(Tensor self, Tensor y) -> Tensor", `{self: "float32[1]", y: "view:self"}`)},
		"argument self: a csr tensor has no literal in Go":                                     {library("x::f", 1, vector), alias(unary, `{self: "float32[1, 1] csr"}`)},
		"its kernel can't be called by name":                                                   {library("x::g", 1, vector), alias(unary, `{self: "float32[1]"}`)},
		"OA011 has no form in Go":                                                              {library("aten::_f", 1, vector, "int"), examples["meta-alias"]},
		"the parts of self.parts have no name in Go":                                           {library("x::f", 1, vector), inside},
		"its kernel, example.com/v/kernels.F.func1, has no name that another package can call": {closure(), alias(unary, `{self: "float32[1]"}`)},
	} {
		text, err := (Source{Go: e.Module}).goText(e.Problem)
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s\n%s", err, want, text)
		}
	}
}

func closure() *Module {
	l := library("x::f", 1, vector)
	l.Kernels["x::f"].Name += ".func1"
	return l
}

// C++ programs are those of the golden files.
func TestCppPrograms(t *testing.T) {
	for _, name := range []string{"input-storage", "undeclared-alias", "write-beside", "kept-argument", "meta-alias", "crash", "out-of-bounds", "restored", "use-after-free", "uninitialised", "nondeterministic"} {
		texts := must.Get((Source{Version: "libtorch", Libraries: []string{"/lib/my.so"}}).cppTexts(examples[name]))(t)
		_, got, _ := strings.Cut(texts[1], "\n\n#include")
		golden.Compare(t, name+".cpp.txt", "#include"+got)
		if strings.Contains(texts[0], "Below") {
			t.Errorf("%s: the first program is below autograd", name)
		}
	}
	list := finding("x::f", "f(Tensor self, Tensor?[] indices, ScalarType? d=None) -> Tensor", `{self: "quint8[2] quantized", indices: "[none, int64[2, 2]]"}`,
		asserts.InputImpl, asserts.Place{Index: 1, Name: "indices", Element: 1}, asserts.Place{})
	texts := must.Get((Source{}).cppTexts(list))(t)
	for _, want := range []string{
		"at::quantize_per_tensor(of<float>(at::ScalarType::Float, {", "list(schema, 1, {c10::IValue(), indices_1})", "indices_.toList().get(1).toTensor().unsafeGetTensorImpl() != impl_before", "standard(schema, 2)",
	} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("no %s in\n%s", want, texts[0])
		}
	}
}

// Every rule has a form in every language, except the few facts that a language can't observe.
func TestEveryRuleHasAFormInEachLanguage(t *testing.T) {
	place := func(p asserts.Place) (string, error) { return p.Name, nil }
	none := func(x, y string) []string { return nil }
	unseen := map[string]bool{"OA001 has no form in Python": true, "OA014 has no form in C++": true, "OA014 has no form in Go": true}
	for name := range rules() {
		code, alone, against := asserts.Code(0), "", "self"
		if name, alone, _ = strings.Cut(name, " "); alone != "" {
			against = ""
		}
		must.Do(t, code.UnmarshalText([]byte(name)))
		for _, d := range []*dialect{&python, &cpp, &golang} {
			v := &asserts.Violation{Code: code, Subject: argument(0, "x"), Against: argument(1, against)}
			if _, err := d.predicate(v, place, none); err != nil && !unseen[err.Error()] {
				t.Error(err)
			}
		}
	}
}

// The smallest program that shows a fault is kept, and if none of the first language does, that of
// the next.
func TestSmallestProgram(t *testing.T) {
	dir := t.TempDir()
	python := filepath.Join(dir, "python3")
	text := "#!/bin/sh\nwhile IFS='\"' read -r _ file _ printed _; do\nif grep -qE '[ =]7[,)]' \"$file\"; then echo 'the fault is there: x' >$printed; echo 1; else : >$printed; echo 0; fi\ndone\n"
	must.Do(t, os.WriteFile(python, []byte(text), 0o777))
	const schema = "f(Tensor self, Tensor[] xs, Tensor? w=None, int dim=0, int keep=0) -> Tensor"
	recipe := `{self: "float32[2, 3] padded", xs: "[float32[5], float32[5]]", w: "float32[4]", dim: "7", keep: "1"}`
	f := finding("x::f", schema, recipe, asserts.UndeclaredWrite, argument(0, "self"), asserts.Place{})
	d := &ProgramFolder{Path: filepath.Join(dir, "programs"), Python: python, Source: source}
	p := write(t, d, f)
	const want = "result = torch.ops.x.f.default(self, xs, dim=7)"
	if !p.Reproduced || !strings.Contains(p.Text, want) || !strings.Contains(p.Text, "self = torch.tensor([") || !strings.Contains(p.Text, "xs = [xs_0]") {
		t.Errorf("%v, want %s, in\n%s", p, want, p.Text)
	}
	if kept, _ := os.ReadFile(p.File); string(kept) != p.Text {
		t.Errorf("the file is another than\n%s", p.Text)
	}

	d.Build = func(file, to string) []string {
		return []string{"sh", "-c", `grep -q "[b]elow;" "$1" || { echo "p.cpp:1: error: no"; exit 1; }; printf '#!/bin/sh\necho "the fault is there: y"; exit 1\n' >"$2" && chmod +x "$2"`, "sh", file, to}
	}
	f = finding("x::f", schema, `{self: "float32[1]", xs: "[]"}`, asserts.UndeclaredWrite, argument(0, "self"), asserts.Place{})
	p = write(t, d, f)
	files, _ := filepath.Glob(filepath.Join(d.Path, "*"))
	if !p.Reproduced || filepath.Ext(p.File) != ".cpp" || !strings.Contains(p.Text, "AutoDispatchBelowAutograd") || len(files) != 1 {
		t.Errorf("%v, files %v, in\n%s", p, files, p.Text)
	}
	d.Build = func(file, to string) []string { return []string{"sh", "-c", "echo 'p.cpp:1: error: no'; exit 1"} }
	if p = write(t, d, f); p.Reproduced || filepath.Ext(p.File) != ".py" {
		t.Errorf("%v", p)
	}
	d.Python = ""
	if p = write(t, d, f); p.Reproduced || p.Why != "it can't be built: p.cpp:1: error: no" || filepath.Ext(p.File) != ".cpp" {
		t.Errorf("%v", p)
	}
}

// write returns the program of one fault, in a folder made anew.
func write(t *testing.T, d *ProgramFolder, f Problem) *report.ReproProgram {
	f.Op.Findings = []*report.Finding{f.Finding}
	must.Do(t, d.Clear())
	must.Do(t, d.Write(t.Context(), &report.Report{Ops: []*report.OpResult{f.Op}}, 1))
	return f.Finding.Program
}

// A built program is run with a time limit, and the report tells why it did not end.
func TestBuilt(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	dir := t.TempDir()
	by := &programRunner{ctx: t.Context()}
	for program, want := range map[string]string{
		"echo 'the fault is there: x'; exit 1": "", "echo 'the call raises: y'; exit 2": "the call raises: y", "kill -9 $$": "signal: killed", "exit 3": "exit status 3",
	} {
		file := filepath.Join(dir, "p")
		must.Do(t, os.WriteFile(file, []byte("#!/bin/sh\n"+program+"\n"), 0o777))
		if shown, why := by.built(dir, []string{"true"}, file); shown != (want == "") || why != want {
			t.Errorf("%s: %v, %q, want %q", program, shown, why, want)
		}
	}
}

// Two faults of one op have a file each.
func TestNamesOfTwo(t *testing.T) {
	r := &report.Report{Ops: []*report.OpResult{{Op: "x::f", Schema: "f(Tensor a, Tensor b) -> Tensor"}}}
	for i, name := range []string{"a", "b"} {
		f := finding("x::f", r.Ops[0].Schema, `{a: "float32[1]", b: "float32[1]"}`, asserts.UndeclaredAlias, result(0, "result"), argument(i, name))
		r.Ops[0].Findings = append(r.Ops[0].Findings, f.Finding)
	}
	d := &ProgramFolder{Path: filepath.Join(t.TempDir(), "programs"), Source: source}
	must.Do(t, d.Clear())
	must.Do(t, d.Write(t.Context(), r, 2))
	for i, want := range []string{"x_f-OA007-result.py", "x_f-OA007-result-2.py"} {
		if got := r.Ops[0].Findings[i].Program.File; filepath.Base(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
