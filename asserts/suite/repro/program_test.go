package repro

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
)

var source = Source{Version: "libtorch 2.6.0"}

// argument and result return places of a violation.
func argument(index int, name string) asserts.Place {
	return asserts.Place{Index: index, Name: name, Element: asserts.NoElement}
}

func result(index int, name string) asserts.Place {
	p := argument(index, name)
	p.Return = true
	return p
}

// finding returns a fault with the call of a recipe.
func finding(op, schema, recipe string, code asserts.Code, subject, against asserts.Place, devices ...engine.Device) Problem {
	return Problem{
		Op: &report.OpResult{Op: op, Schema: schema},
		Finding: &report.Finding{
			Violation: &asserts.Violation{Code: code, Op: op, Schema: schema, Subject: subject, Against: against, Saw: "what the run saw", Fix: "what to change"},
			Call:      op + "(...)", Recipe: recipe, Devices: devices,
		},
	}
}

// seeing returns a fault with a symptom.
func seeing(f Problem, symptom asserts.Symptom) Problem {
	f.Finding.Violation.Symptom = symptom
	return f
}

// within returns a fault of elements that differ by more than a tolerance.
func within(f Problem, tolerance float64) Problem {
	f.Finding.Violation.Tolerance = tolerance
	return seeing(f, asserts.OtherContents)
}

// guarding returns a fault of a fake with a guard that some sizes do not meet.
func guarding(f Problem, sizes string) Problem {
	f.Finding.Violation.Sizes = sizes
	return seeing(f, asserts.SizeGuard)
}

// after returns a fault that another call before shows.
func after(earlier string, f Problem) Problem {
	f.Finding.Earlier = earlier
	return f
}

const unary = "f(Tensor self) -> Tensor"

// examples have a fault for each predicate, and calls of each sort.
var examples = map[string]Problem{
	"input-storage":     finding("x::f_", "f_(Tensor(a!) self) -> Tensor(a!)", `{self: "float32[2]"}`, asserts.InputStorage, argument(0, "self"), asserts.Place{}),
	"fresh-impl":        finding("x::f", unary, `{self: "float32[2]"}`, asserts.FreshImpl, result(0, "result"), argument(0, "self")),
	"fresh-impl-held":   finding("x::f", unary, `{self: "float32[2]"}`, asserts.FreshImpl, result(0, "result"), asserts.Place{}),
	"view-storage":      finding("aten::v", "v(Tensor(a) self) -> Tensor(a)", `{self: "int64[3] range"}`, asserts.ViewStorage, result(0, "result"), argument(0, "self")),
	"fresh-storage":     finding("x::f", unary, `{self: "bool[]"}`, asserts.FreshStorage, result(0, "result"), asserts.Place{}),
	"returned-before":   seeing(finding("x::f", "f(int n) -> (Tensor a, Tensor[] b)", `{n: "1"}`, asserts.FreshStorage, asserts.Place{Return: true, Index: 1, Name: "b", Element: 2}, asserts.Place{}), asserts.ReturnedBefore),
	"returned-self":     finding("aten::f_", "f_(Tensor(a!) self) -> Tensor(a!)", `{self: "complex64[2]"}`, asserts.ReturnedSelf, result(0, "result"), argument(0, "self")),
	"undeclared-alias":  finding("x::f", unary, `{self: "float32[2, 2] transposed"}`, asserts.UndeclaredAlias, result(0, "result"), argument(0, "self")),
	"output-alias":      finding("x::two", "two(Tensor self) -> (Tensor a, Tensor b)", `{self: "float16[2] const:NaN"}`, asserts.OutputAlias, result(1, "b"), result(0, "a")),
	"undeclared-write":  finding("x::from", "from(Tensor self, *, Tensor from, float? p=None) -> Tensor", `{self: "uint8[2]", from: "float32[1000]", p: "-Inf"}`, asserts.UndeclaredWrite, argument(1, "from"), asserts.Place{}),
	"version-bump":      finding("x::f_", "f_(Tensor(a!) self, Tensor[] xs) -> ()", `{self: "float32[2]", xs: "[same:self, float64[0]]"}`, asserts.VersionBump, argument(0, "self"), asserts.Place{}),
	"inplace-metadata":  finding("x::f_", "f_(Tensor(a!) self, ScalarType d) -> Tensor(a!)", `{self: "float32[2, 3] padded", d: "dtype:int8"}`, asserts.InplaceMetadata, argument(0, "self"), asserts.Place{}),
	"write-beside":      finding("aten::f.out", "f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", `{self: "float32[2]", out: "float32[3] sliced = [1, 2, 3]"}`, asserts.WriteBeside, argument(1, "out"), asserts.Place{}),
	"kept-argument":     finding("x::f", unary, `{self: "float32[2] requires-grad"}`, asserts.KeptArgument, argument(0, "self"), asserts.Place{}),
	"within-storage":    finding("x::f", unary, `{self: "float32[2] inference"}`, asserts.WithinStorage, result(0, "result"), asserts.Place{}),
	"autograd-kernel":   finding("x::f", unary, `{self: "float32[2] requires-grad"}`, asserts.AutogradKernel, result(0, "result"), asserts.Place{}),
	"meta-alias":        finding("aten::_f", "_f(Tensor self, int dim=0) -> Tensor", `{self: "float32[2]", dim: "1"}`, asserts.MetaAlias, result(0, "result"), asserts.Place{}, engine.CPU, engine.Meta),
	"beside-cpu":        finding("x::f", unary, `{self: "float32[2]"}`, asserts.MetaAlias, result(0, "result"), asserts.Place{}, "openreg", engine.CPU),
	"values-beside-cpu": within(finding("x::f", unary, `{self: "float32[2]"}`, asserts.MetaAlias, result(0, "result"), asserts.Place{}, "openreg", engine.CPU), 0.001),
	"write-beside-cpu":  seeing(finding("x::f", "f(Tensor(a!) self) -> ()", `{self: "float32[2]"}`, asserts.MetaAlias, argument(0, "self"), asserts.Place{}, "openreg", engine.CPU), asserts.OtherContents),
	"fake":              finding("x::f", unary, `{self: "float32[2]"}`, asserts.MetaAlias, result(0, "result"), asserts.Place{}, engine.CPU, engine.Fake),
	"number":            seeing(finding("x::f", "f(Tensor self) -> (Tensor, int)", `{self: "float32[2]"}`, asserts.MetaAlias, result(0, "result0"), asserts.Place{}, engine.CPU, engine.Fake), asserts.OtherContents),
	"backward":          seeing(finding("x::f", unary, `{self: "float32[2]"}`, asserts.AutogradKernel, result(0, "result"), asserts.Place{}, engine.CPU, engine.Rules), asserts.Backward),
	"without-tensor":    seeing(finding("x::f", "f(Tensor self, Tensor? by=None) -> Tensor", `{self: "float32[2]", by: "float32[2]"}`, asserts.AutogradKernel, argument(1, "by"), asserts.Place{}, engine.CPU, engine.Rules), asserts.WithoutTensor),
	"vmap":              seeing(finding("x::f", unary, `{self: "float32[2]"}`, asserts.AutogradKernel, argument(0, "self"), asserts.Place{}, engine.CPU, engine.Rules), asserts.Vmap),
	"guard":             guarding(finding("x::f", "f(Tensor[] xs, Tensor from) -> Tensor", `{xs: "[float32[2, 3]]", from: "float32[2]"}`, asserts.MetaAlias, argument(0, "xs"), asserts.Place{}, engine.CPU, engine.Fake), "xs[0] [2, 4], from [5]"),
	"symbols":           seeing(finding("x::f", unary, `{self: "float32[2, 3]"}`, asserts.MetaAlias, result(0, "result"), asserts.Place{}, engine.CPU, engine.Fake), asserts.SymbolicSizes),
	"inside": finding("x::f", "f(Tensor y, Tensor[] xs) -> Tensor", `{y: "float32[2, 2]", xs: "[view:y, float32[2, 2] coo]"}`, asserts.UndeclaredWrite,
		asserts.Place{Index: 1, Name: "xs.parts", Inside: true, Called: "1.values", Element: asserts.NoElement}, asserts.Place{}),
	"sparse-write": finding("aten::f", "f(Tensor names, Tensor result) -> Tensor", `{names: "float32[2, 2] csr", result: "float32[2]"}`, asserts.UndeclaredWrite, argument(0, "names"), asserts.Place{}),
	"shadowing":    finding("x::f", "f(Tensor[] tensors, Tensor sys, Tensor before) -> Tensor", `{tensors: "[float32[1]]", sys: "float32[1]", before: "float32[1]"}`, asserts.UndeclaredWrite, argument(1, "sys"), asserts.Place{}),
	"values": finding("x::f", "f(Tensor x, Dict(str, Tensor) d, int[] n, str s, Device dev, Generator? g, Storage st, Tensor[] made) -> Tensor",
		`{x: "quint8[2] quantized", d: "{'a': float32[1]}", n: "[1, -2]", s: "'a\"b'", dev: "device:cpu", g: "generator", st: "storage:float32[2]", made: "[x::g(float32[1]), after x::push_(x.Queue(3), true), after x::Queue.push(after x::Queue.pop(x.Queue(3), 2), true), x::Queue.top(x.Set(3)), x::g.one()]"}`,
		asserts.FreshStorage, result(0, "result"), argument(0, "x")),
	"out-of-bounds":      finding("x::f", "f(Tensor self, Tensor[] xs) -> Tensor", `{self: "float32[2]", xs: "[view:self]"}`, asserts.OutOfBounds, argument(0, "self"), asserts.Place{}),
	"out-of-bounds-made": finding("x::f", unary, `{self: "float32[1]"}`, asserts.OutOfBounds, asserts.Place{}, asserts.Place{}),
	"restored":           seeing(finding("x::f", "f(Tensor self, Tensor[] xs) -> Tensor", `{self: "float32[2]", xs: "[view:self]"}`, asserts.UndeclaredWrite, argument(0, "self"), asserts.Place{}), asserts.Restored),
	"use-after-free": finding("x::f", unary, `{self: "float32[2]"}`, asserts.UseAfterFree,
		asserts.Place{Return: true, Index: 1, Name: "the process", Element: asserts.NoElement}, asserts.Place{}),
	"uninitialised":    finding("x::two", "two(Tensor self) -> (Tensor a, Tensor b)", `{self: "float32[2]"}`, asserts.UninitialisedResult, result(1, "b"), asserts.Place{}, engine.CPU),
	"nondeterministic": finding("x::f_", "f_(Tensor(a!) self) -> Tensor(a!)", `{self: "float32[2]"}`, asserts.NondeterministicResult, argument(0, "self"), asserts.Place{}),
	"neighbours":       seeing(finding("x::f", unary, `{self: "float32[2] sliced"}`, asserts.NondeterministicResult, result(0, "result"), asserts.Place{}), "neighbours"),
	"threads":          seeing(finding("x::f", unary, `{self: "float32[65537]"}`, asserts.NondeterministicResult, result(0, "result"), asserts.Place{}), "threads"),
	"races":            seeing(finding("x::f", unary, `{self: "float32[65537]"}`, asserts.NondeterministicResult, result(0, "result"), asserts.Place{}), "races"),
	"default-seed":     seeing(finding("x::f", "f(Tensor self, *, Generator? g=None) -> Tensor", `{self: "float32[3]", g: generator}`, asserts.NondeterministicResult, result(0, "result"), asserts.Place{}), "default-seed"),
	"earlier":          seeing(finding("x::f", "f(Tensor self, Tensor[] xs) -> Tensor", `{self: "float32[2]", xs: "[int64[2]]"}`, asserts.NondeterministicResult, result(0, "result"), asserts.Place{}), "earlier-call"),
	"earlier-values":   seeing(finding("x::f", "f(Tensor self, Tensor[] xs) -> Tensor", `{self: "float32[2]", xs: "[int64[2]]"}`, asserts.NondeterministicResult, result(0, "result"), asserts.Place{}), asserts.EarlierValues),
	"earlier-written":  seeing(finding("x::f_", "f_(Tensor(a!) self, Tensor x) -> Tensor", `{self: "float32[2]", x: "float32[2]"}`, asserts.NondeterministicResult, result(0, "result"), asserts.Place{}), asserts.EarlierValues),
	"first-call":       seeing(finding("x::f", "f(Tensor self) -> Tensor", `{self: "float32[2]"}`, asserts.NondeterministicResult, result(0, "result"), asserts.Place{}), asserts.FirstCall),
	"earlier-other":    after(`{self: "float32[2]", by: "1"}`, seeing(finding("x::f", "f(Tensor self, int by) -> Tensor", `{self: "float32[2]", by: "2"}`, asserts.NondeterministicResult, result(0, "result"), asserts.Place{}), asserts.EarlierValues)),
	"crash": {
		Op:    &report.OpResult{Op: "aten::f", Schema: unary},
		Crash: &report.Crash{Case: 7, Cause: "SIGSEGV", Call: "aten::f(self=float32[0])", Recipe: `{self: "float32[0]"}`, Device: "cpu", Frames: []string{"at::native::f"}},
	},
	"rules-crash": {
		Op:    &report.OpResult{Op: "x::f", Schema: unary},
		Crash: &report.Crash{Case: 7, Cause: "SIGSEGV", Call: "x::f(self=float32[0])", Recipe: `{self: "float32[0]"}`, Device: engine.Rules, Frames: []string{"rule (x.py:3)"}},
	},
	"hang": {
		Op:    &report.OpResult{Op: "aten::f", Schema: unary},
		Crash: &report.Crash{Case: 7, Cause: report.Hang, Call: "aten::f(self=float32[0])", Recipe: `{self: "float32[0]"}`, Device: "cpu"},
	},
}

// Programs are those of the golden files, and Python parses them.
func TestPrograms(t *testing.T) {
	for name, f := range examples {
		t.Run(name, func(t *testing.T) {
			texts := must.Get(source.Texts(f))(t)
			comment, got, _ := strings.Cut(texts[0], "\n\n")
			for _, said := range []string{f.Op.Op, f.Op.Schema, "Seen with libtorch 2.6.0."} {
				if !strings.Contains(comment, said) {
					t.Errorf("the comment does not say %s:\n%s", said, comment)
				}
			}
			if f.Crash != nil {
				got = strings.Join(texts, "\n# Or:\n\n")
			}
			golden.Compare(t, name+".py", got)
		})
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 to read the programs")
	}
	const read = "import ast, glob\nfor f in glob.glob('testdata/*.py'): ast.parse(open(f).read(), f)"
	if out, err := exec.Command(python, "-c", read).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Below autograd there are no gradients: no program checks them there.
func TestGradientsAreLookedForWithAutograd(t *testing.T) {
	for name, below := range map[string]bool{"autograd-kernel": false, "kept-argument": true} {
		texts, err := source.Texts(examples[name])
		if got := strings.Contains(strings.Join(texts, ""), "BelowAutograd"); err != nil || got != below {
			t.Errorf("%s: a program below autograd: %v, want %v; error %v", name, got, below, err)
		}
	}
}

// The simplest way to call an op is the one that PyTorch documents.
func TestPublicNames(t *testing.T) {
	for name, want := range map[string]string{
		"aten::add.Tensor": "torch.add(", "aten::linalg_eigvals": "torch.linalg.eigvals(", "aten::special_i0": "torch.special.i0(", "aten::fft_fft": "torch.fft.fft(",
		"aten::addbmm_": "torch.Tensor.addbmm_(", "aten::_softmax": "torch.ops.aten._softmax.default(", "x::add_": "torch.ops.x.add_.default(",
	} {
		_, base, _ := strings.Cut(name, "::")
		f := finding(name, base+"(Tensor self) -> Tensor", `{self: "float32[1]"}`, asserts.UndeclaredAlias, result(0, "result"), argument(0, "self"))
		if texts := must.Get(source.Texts(f))(t); !strings.Contains(texts[0], "result = "+want+"self)") {
			t.Errorf("%s: no call of %s in\n%s", name, want, texts[0])
		}
	}
}

// PyTorch refuses results of custom_op that share memory: that shows the fault, of an op that is
// not its own.
func TestRefused(t *testing.T) {
	for name, want := range map[string]bool{"x::f": true, "aten::f": false} {
		f := finding(name, unary, `{self: "float32[1]"}`, asserts.UndeclaredAlias, result(0, "result"), argument(0, "self"))
		if got := strings.Contains(must.Get(source.Texts(f))(t)[0], `if "may not alias any inputs" in str(e)`); got != want {
			t.Errorf("%s: a refused result is looked for: %v, want %v", name, got, want)
		}
	}
}

// The guard that excludes autograd is not a context manager before 2.0.
func TestOldGuard(t *testing.T) {
	for version, want := range map[string]int{"libtorch 1.13.1": 1, "libtorch 2.1.0": 0} {
		texts := must.Get(Source{Version: version}.Texts(examples["undeclared-write"]))(t)
		for i, below := range []int{0, want} {
			got := strings.Count(texts[i], "contextlib.contextmanager(lambda")
			if imported := strings.Count(texts[i], "import contextlib\n"); got != below || imported != below {
				t.Errorf("%s: %d times, imported %d times, in\n%s", version, got, imported, texts[i])
			}
		}
	}
}

// The untyped storage of a tensor has another name before 2.0.
func TestOldStorage(t *testing.T) {
	for version, want := range map[string]int{"libtorch 1.13.1": 1, "libtorch 2.1.0": 0} {
		for name, uses := range map[string]int{"undeclared-write": 1, "returned-self": 0} {
			texts := must.Get(Source{Version: version}.Texts(examples[name]))(t)
			if n := strings.Count(texts[0], "Tensor.untyped_storage = "); n != want*uses {
				t.Errorf("%s, %s: %d times in\n%s", version, name, n, texts[0])
			}
		}
	}
}

// Every rule has an example, also without a second tensor.
func TestEveryRuleHasAnExample(t *testing.T) {
	shown := make(map[asserts.Code]bool)
	alone := make(map[asserts.Code]bool)
	for _, f := range examples {
		if f.Finding != nil {
			v := f.Finding.Violation
			shown[v.Code] = true
			alone[v.Code] = alone[v.Code] || v.Against.Name == ""
		}
	}
	for _, row := range probe.Rows() {
		is := func(f Problem) bool {
			return f.Finding != nil && f.Finding.Violation.Code == row.Fault.Code && f.Finding.Violation.Symptom == row.Fault.Symptom
		}
		if examples := slices.Collect(maps.Values(examples)); row.Program != nil && row.NoProgram == "" && !slices.ContainsFunc(examples, is) {
			t.Errorf("the probe %s has no example", row.Name)
		}
	}
	for name := range rules() {
		name, without, _ := strings.Cut(name, " ")
		if code, ok := asserts.ParseCode(name); !ok || !shown[code] && code != asserts.InputImpl || without != "" && !alone[code] {
			t.Errorf("%s has no example", name)
		}
	}
}

// A fault without a program has a reason.
func TestNoProgram(t *testing.T) {
	gone := finding("x::f", "f(Tensor? x=None) -> Tensor", `{}`, asserts.UndeclaredWrite, argument(0, "x"), asserts.Place{})
	lone := finding("x::f", unary, `{self: "float32[1]"}`, asserts.ViewStorage, result(0, "result"), asserts.Place{})
	lint := finding("x::f", unary, `{self: "float32[1]"}`, asserts.SchemaLint, result(0, "result"), asserts.Place{})
	for want, f := range map[string]Problem{
		"the argument x is not in the call":              gone,
		"the tensor that it is compared with is unknown": lone,
		"OA012 has no form in Python":                    lint,
		"of functions registered besides the kernel, only a backward that raises and a rule for vmap have a program": finding("x::f", unary, `{self: "float32[1]"}`, asserts.AutogradKernel, result(0, "result"), asserts.Place{}, engine.CPU, engine.Rules),
		"OA021 has no form in Python":                           seeing(finding("x::f", "f(Tensor self, *, Generator? g=None) -> Tensor", `{self: "float32[3]", g: generator}`, asserts.NondeterministicResult, result(0, "result"), asserts.Place{}), "same-generators"),
		"no program fills the memory of a device before a call": finding("x::f", unary, `{self: "float32[1]"}`, asserts.UninitialisedResult, result(0, "result"), asserts.Place{}, "openreg:1"),
		"the call on meta crashes":                              {Op: lone.Op, Crash: &report.Crash{Device: engine.Meta, Recipe: "{}"}},
		"the call of its fake crashes":                          {Op: lone.Op, Crash: &report.Crash{Device: engine.Fake, Recipe: "{}"}},
		"the process ended before the call":                     {Op: lone.Op, Crash: &report.Crash{}},
		`self: unknown dtype "floof"`:                           finding("x::f", unary, `{self: "floof[1]"}`, asserts.UndeclaredWrite, argument(0, "self"), asserts.Place{}),
	} {
		if texts, err := source.Texts(f); err == nil || err.Error() != want {
			t.Errorf("%d programs, error %v, want %s", len(texts), err, want)
		}
	}
}

// A folder of programs has no other files, and is made again.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	d := &ProgramFolder{Path: filepath.Join(dir, "new", "folder"), Source: source}
	r := &report.Report{Ops: []*report.OpResult{examples["crash"].Op, {Op: "x::f", Schema: unary}, {Op: "x::f.out", Schema: "f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"}}}
	r.Ops[0].Crashes = []report.Crash{*examples["crash"].Crash, *examples["crash"].Crash}
	r.Ops[0].Crashes[0].Alone, r.Ops[0].Crashes[1].Alone = true, true
	r.Ops[1].Findings = []*report.Finding{examples["undeclared-alias"].Finding}
	r.Ops[2].Findings = []*report.Finding{finding("x::f.out", "f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", `{self: "float32[1]", out: "float32[1]"}`, asserts.UndeclaredAlias, result(0, "result"), argument(0, "self")).Finding}
	below := &ProgramFolder{Path: filepath.Join(d.Path, "1-2.6.0"), Source: source}
	for range 2 {
		must.Do(t, d.Clear())
		must.Do(t, below.Write(t.Context(), r, 2))
		must.Do(t, d.Clear()) // with its subfolders
		must.Do(t, d.Write(t.Context(), r, 2))
	}
	files, _ := filepath.Glob(filepath.Join(d.Path, "*"))
	want := []string{filepath.Join(d.Path, "aten_f-SIGSEGV-7.py"), filepath.Join(d.Path, "x_f-OA007-result.py")}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
	const why = "it was not run: libtorch 2.6.0 has no Python"
	for _, p := range []*report.ReproProgram{r.Ops[0].Crashes[1].Program, r.Ops[1].Findings[0].Program, r.Ops[2].Findings[0].Program} {
		if p == nil || p.Reproduced || p.Why != why || p.File == "" {
			t.Errorf("%+v, want %s", p, why)
		}
	}
	if reproduced, others := r.Programs(); reproduced != 0 || others != 4 {
		t.Errorf("%d reproduced, %d not, want 0 and 4", reproduced, others)
	}
	others := []string{"empty/", "notes.txt", "a/b/notes.txt"}
	for _, other := range others {
		path := filepath.Join(d.Path, filepath.FromSlash(other))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		if !strings.HasSuffix(other, "/") {
			must.Do(t, os.WriteFile(path, []byte("mine"), 0o666))
		} else {
			must.Do(t, os.Mkdir(path, 0o777))
		}
		name, _, _ := strings.Cut(other, "/")
		if err := d.Clear(); err == nil || !strings.Contains(err.Error(), "holds other files, such as "+name) {
			t.Errorf("%s: error %v", other, err)
		}
		if left, _ := filepath.Glob(filepath.Join(d.Path, "*")); len(left) != 3 {
			t.Errorf("%v are left", left)
		}
		must.Do(t, os.RemoveAll(filepath.Join(d.Path, name)))
	}
}

// A program is run like with python3: its last line and its status tell whether the fault is there.
// torch is imported before.
func TestRun(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 to run programs")
	}
	dir := t.TempDir()
	t.Setenv("PYTHONPATH", filepath.Join(dir, "path"))
	torch := filepath.Join(dir, "path", "torch.py")
	must.Do(t, os.Mkdir(filepath.Dir(torch), 0o777))
	must.Do(t, os.WriteFile(torch, []byte("print('noise')"), 0o666))
	must.Do(t, os.WriteFile(filepath.Join(dir, "beside.py"), nil, 0o666))
	by := &programRunner{ctx: t.Context(), python: python, printed: filepath.Join(dir, "printed")}
	defer by.end()
	for _, tt := range []struct {
		text, why string
		shown     bool
	}{
		{"print('noise'); print('the fault is there: x'); raise SystemExit(1)", "", true},
		{"print('the fault is there: x')", "the fault is there: x", false},
		{"import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'", false},
		{"import sys; sys.exit(3)", "exit status 3", false},
		{"import sys; sys.exit()", "exit status 0", false},
		{"import sys; sys.exit('why')", "why", false},
		{"import os; os.kill(os.getpid(), 9)", "signal: killed", false},
		{"import os; os.kill(os.getpid(), 14)", "it takes longer than 3m0s", false},
		{"print('the call raises: \033[1m')", `the call raises: \u001b[1m`, false},
		{"import sys; print(sys.argv[1:], sys.argv[0] == __file__, __name__, sys.stdin.read())", "[] True __main__", false},
		{"import beside; print('beside')", "beside", false},
		{"import sys, torch; torch.x = 1; print('x')", "x", false},
		{"import torch; print(hasattr(torch, 'x'))", "False", false},
	} {
		file := filepath.Join(dir, "p.py")
		must.Do(t, os.WriteFile(file, []byte(tt.text), 0o666))
		if shown, why := by.run(file); shown != tt.shown || why != tt.why {
			t.Errorf("%s: %v, %q, want %v, %q", tt.text, shown, why, tt.shown, tt.why)
		}
	}
	pid := by.cmd.Process.Pid
	must.Do(t, os.WriteFile(filepath.Join(dir, "p.py"), []byte("import os; os.kill(os.getppid(), 9)"), 0o666))
	if shown, why := by.run(filepath.Join(dir, "p.py")); shown || why != "signal: killed" {
		t.Errorf("%v, %q", shown, why)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "p.py"), []byte("print(1)"), 0o666))
	if _, why := by.run(filepath.Join(dir, "p.py")); why != "1" || by.cmd.Process.Pid == pid {
		t.Errorf("once it ended: %q", why)
	}
	by.end()
	must.Do(t, os.WriteFile(torch, []byte("raise ImportError('no torch here')"), 0o666))
	if shown, why := by.run(filepath.Join(dir, "p.py")); shown || why != "ImportError: no torch here" {
		t.Errorf("%v, %q", shown, why)
	}
	by.python = filepath.Join(dir, "none")
	if shown, why := by.run(filepath.Join(dir, "p.py")); shown || !strings.Contains(why, "none") {
		t.Errorf("%v, %q", shown, why)
	}
}

// A program similar to the previous one starts with the imports of that one; it does not see other
// effects.
func TestTry(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 to run programs")
	}
	dir := t.TempDir()
	t.Setenv("PYTHONPATH", dir)
	file, imports := filepath.Join(dir, "p.py"), filepath.Join(dir, "imports")
	must.Do(t, os.WriteFile(filepath.Join(dir, "torch.py"), nil, 0o666))
	must.Do(t, os.WriteFile(filepath.Join(dir, "slow.py"), fmt.Appendf(nil, "open(%q, 'a').write('x')", imports), 0o666))
	by := &programRunner{ctx: t.Context(), python: python, printed: filepath.Join(dir, "printed")}
	defer by.end()
	for i, tt := range []struct {
		run       func(string) (bool, string)
		text, why string
		imports   int // imports of slow, until then
	}{
		{by.try, "print('first')", "first", 0},
		{by.run, "import sys; sys.modules['no module'] = sys\nimport slow; slow.x = 1; print('shown')", "shown", 1},
		{by.try, "import slow; print(hasattr(slow, 'x')); slow.x = 2", "False", 2},
		{by.try, "import slow; print(hasattr(slow, 'x'))", "False", 2},
		{by.try, "import os; os.kill(os.getpid(), 9)", "signal: killed", 2},
		{by.run, "import sys; print('slow' in sys.modules)", "False", 2},
		{by.try, "import slow; print('like another')", "like another", 3},
		{by.try, "import os; os.kill(os.getppid(), 9)", "EOF", 3},
		{by.try, "print('anew')", "anew", 3},
	} {
		must.Do(t, os.WriteFile(file, []byte(tt.text), 0o666))
		_, why := tt.run(file)
		text, _ := os.ReadFile(imports)
		if why != tt.why || len(text) != tt.imports {
			t.Errorf("%d: %q after %d imports, want %q, %d", i, why, len(text), tt.why, tt.imports)
		}
	}
}

// A fault that needs modules which others imported has no program.
func TestSmallerShownInTriesAlone(t *testing.T) {
	dir := t.TempDir()
	python := filepath.Join(dir, "python3")
	const shows = "#!/bin/sh\nwhile IFS='\"' read -r _ file _ printed like; do\nif [ \"$like\" = ',true]' ] || grep -q 'self, 7)' \"$file\"; then echo 'the fault is there: x' >$printed; echo 1; else : >$printed; echo 0; fi\ndone\n"
	must.Do(t, os.WriteFile(python, []byte(shows), 0o777))
	f := finding("x::f", "f(Tensor self, int dim=0) -> Tensor", `{self: "float32[2, 3]", dim: "7"}`, asserts.UndeclaredWrite, argument(0, "self"), asserts.Place{})
	p := write(t, &ProgramFolder{Path: filepath.Join(dir, "programs"), Python: python, Source: source}, f)
	if kept, _ := os.ReadFile(p.File); !p.Reproduced || !strings.Contains(p.Text, "default(self, 7)") || string(kept) != p.Text {
		t.Errorf("%v, in\n%s", p, p.Text)
	}
}

// An interrupted program ends, and so does the process that forked it.
func TestRunInterrupted(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 to run programs")
	}
	dir := t.TempDir()
	t.Setenv("PYTHONPATH", dir)
	begun, ended, file := filepath.Join(dir, "begun"), filepath.Join(dir, "ended"), filepath.Join(dir, "p.py")
	must.Do(t, os.WriteFile(filepath.Join(dir, "torch.py"), nil, 0o666))
	must.Do(t, os.WriteFile(file, fmt.Appendf(nil, "import os, time\nopen(%q, 'w').write(str(os.getpid()))\ntime.sleep(100)\nopen(%q, 'w')", begun, ended), 0o666))
	ctx, stop := context.WithCancel(t.Context())
	by := &programRunner{ctx: ctx, python: python, printed: filepath.Join(dir, "printed")}
	defer stop()
	go func() {
		for ctx.Err() == nil {
			if pid, err := os.ReadFile(begun); err == nil && len(pid) > 0 {
				stop()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if shown, why := by.run(file); shown || why != "it was not run: interrupted" || by.cmd != nil {
		t.Errorf("%v, %q, still there: %v", shown, why, by.cmd != nil)
	}
	if _, err := os.Stat(ended); err == nil {
		t.Error("an interrupted run waits for the program's end")
	}
	pid := must.Get(strconv.Atoi(string(must.Get(os.ReadFile(begun))(t))))(t)
	stat := filepath.Join("/proc", strconv.Itoa(pid), "stat")
	for range 1000 { // a zombie has ended
		if text, err := os.ReadFile(stat); runtime.GOOS != "linux" || err != nil || bytes.Contains(text, []byte(") Z ")) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d of the program goes on", pid)
}

// A finding without a call of its own is reproduced with recorded calls of a program.
func TestRecordedCalls(t *testing.T) {
	dir := t.TempDir()
	python := filepath.Join(dir, "python3")
	const shows = "#!/bin/sh\nwhile IFS='\"' read -r _ file _ printed _; do\nif grep -q '\\[7\\]' \"$file\"; then echo 'the fault is there: x' >$printed; echo 1; else : >$printed; echo 0; fi\ndone\n"
	must.Do(t, os.WriteFile(python, []byte(shows), 0o777))
	op := func(name string) Problem {
		f := finding("x::"+name, name+"(Tensor self, int[] x) -> Tensor", "", asserts.MetaAlias, result(0, "result"), asserts.Place{}, engine.CPU)
		f.Op.Findings = []*report.Finding{f.Finding}
		return f
	}
	shown, unknown, unread := op("f"), op("g"), op("h")
	d := &ProgramFolder{Path: filepath.Join(dir, "programs"), Python: python, Source: source, Calls: map[string][]string{
		"x::f": {`{self: "float32[2]", x: "[100]"}`, `{self: "floof[2]"}`, `{self: "float32[2]", x: "[7]"}`, `{self: "float32[2]", x: "[8]"}`},
		"x::h": {`{self: "floof[2]"}`, `{self: "flaaf[2, 2]"}`},
	}}
	must.Do(t, d.Clear())
	must.Do(t, d.Write(t.Context(), &report.Report{Ops: []*report.OpResult{shown.Op, unknown.Op, unread.Op}}, 1))
	if p := shown.Finding.Program; p == nil || !p.Reproduced || !strings.Contains(p.Text, "[7]") || !strings.Contains(p.Text, "FakeTensorMode") {
		t.Errorf("%+v", p)
	}
	for want, f := range map[string]Problem{
		"no call of the op was recorded: those of PyTorch's own ops are with -op": unknown,
		`self: unknown dtype "floof"`: unread,
	} {
		if p := f.Finding.Program; p == nil || p.Reproduced || p.File != "" || p.Why != want {
			t.Errorf("%+v, want %s", p, want)
		}
	}
	if shown.Finding.Recipe != "" || len(shown.Finding.Devices) != 1 {
		t.Errorf("the finding became %+v", shown.Finding)
	}
}

// The simplest program that shows a fault is kept; otherwise the one through torch.ops.
func TestPlainestProgram(t *testing.T) {
	dir := t.TempDir()
	python := filepath.Join(dir, "python3")
	for want, shows := range map[string]string{
		"torch.f(self)":                  "true",
		"torch.ops.aten.f.default(self)": "grep -q ops \"$file\" && ! grep -q Below \"$file\"",
		"_AutoDispatchBelowAutograd":     "grep -q Below \"$file\"",
	} {
		text := "#!/bin/sh\nwhile IFS='\"' read -r _ file _ printed _; do\nif " + shows + "; then echo 'the fault is there: x' >$printed; echo 1; else : >$printed; echo 0; fi\ndone\n"
		must.Do(t, os.WriteFile(python, []byte(text), 0o777))
		f := finding("aten::f", unary, `{self: "float32[1]"}`, asserts.UndeclaredWrite, argument(0, "self"), asserts.Place{})
		f.Op.Findings = []*report.Finding{f.Finding}
		d := &ProgramFolder{Path: filepath.Join(dir, "programs"), Python: python, Source: source}
		must.Do(t, d.Clear())
		must.Do(t, d.Write(t.Context(), &report.Report{Ops: []*report.OpResult{f.Op}}, 2))
		p := f.Finding.Program
		if p == nil || !p.Reproduced {
			t.Fatalf("%+v", p)
		}
		if kept, _ := os.ReadFile(p.File); !bytes.Contains(kept, []byte(want)) {
			t.Errorf("kept, want %s:\n%s", want, kept)
		}
	}
}

// For a watched program, the device is that of the finding's tensor.
func TestDeviceOfWatched(t *testing.T) {
	for device, want := range map[string]string{"": "", "cpu": "", "meta": "", "openreg:1": "torch.set_default_device(\"openreg:1\")\n"} {
		f := finding("x::f", unary, `{self: "float32[2]"}`, asserts.UndeclaredWrite, argument(0, "self"), asserts.Place{})
		f.Finding.Violation.Device = device
		for _, text := range must.Get(Source{Version: "libtorch 2.6.0"}.Texts(f))(t) {
			if !strings.Contains(text, want) || want == "" && strings.Contains(text, "set_default_device") {
				t.Errorf("%q: want %q in\n%s", device, want, text)
			}
		}
	}
}

// For a run, the devices are those that were called.
func TestDevicesOfRun(t *testing.T) {
	f := finding("x::f", unary, `{self: "float32[2]"}`, asserts.MetaAlias, asserts.Place{}, asserts.Place{}, engine.CPU, engine.Fake)
	f.Finding.Violation.Device = f.Finding.On()
	for _, text := range must.Get(Source{Version: "libtorch 2.6.0"}.Texts(f))(t) {
		if strings.Contains(text, "set_default_device") {
			t.Errorf("no device is called %s:\n%s", f.Finding.On(), text)
		}
	}
}

// A program makes its tensors on the device of the fault, after importing the package that brings
// it.
func TestDevice(t *testing.T) {
	on := Source{Version: "libtorch 2.6.0", Device: "openreg:1", Modules: []string{"torch_openreg"}}
	for _, devices := range [][]engine.Device{{"openreg:1"}, {"openreg:1", engine.CPU}, {engine.CPU}} {
		code := asserts.UndeclaredWrite
		if len(devices) > 1 {
			code = asserts.MetaAlias
		}
		for _, text := range must.Get(on.Texts(finding("x::f", unary, `{self: "float32[2]"}`, code, argument(0, "self"), asserts.Place{}, devices...)))(t) {
			if got := strings.Contains(text, "import torch_openreg\ntorch.set_default_device(\"openreg:1\")\n"); got != (devices[0] != engine.CPU) {
				t.Errorf("%v: the device is set: %v, in\n%s", devices, got, text)
			}
		}
	}
}

// Kernels of Triton, which modules may have, run on the CPU, as in the run.
func TestTriton(t *testing.T) {
	for modules, want := range map[string]bool{"": false, "mylib": true} {
		on := Source{Version: "libtorch 2.6.0", Modules: strings.Fields(modules)}
		text := must.Get(on.Texts(examples["undeclared-write"]))(t)[0]
		interpreted := strings.Index(text, "TRITON_INTERPRET\", \"1\")")
		imported, configured := strings.Index(text, "import mylib"), strings.Index(text, "Autotuner._bench")
		if (interpreted >= 0) != want || (configured >= 0) != want || want && !(interpreted < imported && imported < configured) || want != strings.Contains(text, "import os\n") {
			t.Errorf("module %q: the interpreter is asked for at %d, the module imported at %d, autotuning off at %d, in\n%s", modules, interpreted, imported, configured, text)
		}
	}
}

// A constructor that ends the process is called like the op: in a process of its own.
func TestObjectsOfCrash(t *testing.T) {
	crash := func(recipe string) string {
		f := Problem{Op: &report.OpResult{Op: "x::f", Schema: "x::f(Any a) -> ()"}, Crash: &report.Crash{Cause: "SIGSEGV", Recipe: recipe, Device: engine.CPU}}
		return must.Get(Source{Version: "libtorch 2.6.0"}.Texts(f))(t)[0]
	}
	for recipe, within := range map[string]bool{`{a: "x.Q(float32[2])"}`: true, `{a: "x::q(float32[2])"}`: true, `{a: "float32[2]"}`: false} {
		text := crash(recipe)
		made, forked := strings.Index(text, "\na = "), strings.Index(text, "os.fork()")
		if inner := strings.Index(text, "\n    a = "); (inner > forked) != within || (made >= 0) == within {
			t.Errorf("%s: made in the child: %v, want %v\n%s", recipe, inner > forked, within, text)
		}
	}
}
