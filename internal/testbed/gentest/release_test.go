package gentest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/gen"
	"github.com/opassert/opassert/internal/dev/must"
)

// A pair is one function to compare, with its parameters, results and call.
var pairs = []struct{ name, params, results, call string }{
	{"Add", "a, b *c10.Tensor, alpha float64", "*c10.Tensor", "AddTensor(a, b, alpha)"},
	{"Cat", "ts []*c10.Tensor, dim int64", "(*c10.Tensor, error)", "Cat(ts, dim)"},
	{"Linear", "ctx context.Context, a, b *c10.Tensor", "(*c10.Tensor, error)", "Linear(ctx, a, b, nil)"},
	{"Aminmax", "a *c10.Tensor, dim *int64, keep bool", "(*c10.Tensor, *c10.Tensor)", "Aminmax(a, dim, keep)"},
}

// In the release build a wrapper is inlined: its caller has the machine code of a
// direct call.
func TestReleaseWrapperIsTheBareCall(t *testing.T) {
	asm := compile(t)
	for _, p := range pairs {
		bare, wrapped := body(asm, "main.bare"+p.name), body(asm, "main.wrapped"+p.name)
		if len(bare) < 5 {
			t.Fatalf("no machine code for %s", p.name)
		}
		if diff := cmp.Diff(bare, wrapped); diff != "" {
			t.Errorf("%s: the wrapper's caller differs from the direct caller:\n%s", p.name, diff)
		}
	}
}

// The comparison can fail: the code with the checks differs.
func TestDebugWrapperIsNotTheBareCall(t *testing.T) {
	asm := compile(t, "-tags=opassert")
	if cmp.Equal(body(asm, "main.bareAdd"), body(asm, "main.wrappedAdd")) {
		t.Error("the debug build has the code of the release build")
	}
}

// Where observers have the build tag, too, a program imports nothing of opassert in the release
// build, and is hardly larger.
func TestReleaseAddsNothing(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	}
	const program = "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/vector\"\n\t\"example.com/vector/%s\"\n)\n\n" +
		"func main() { fmt.Println(%s.Clone(&vector.Vector{Data: []float64{1}})) }\n"
	write("go.mod", "module example.com/vector\n\ngo 1.26.0\n\nrequire github.com/opassert/opassert v0.0.0\n\nreplace github.com/opassert/opassert => "+must.Get(filepath.Abs("../../.."))(t)+"\n")
	write("ops.yaml", "- func: clone(Tensor self) -> Tensor\n")
	write("vector.go", "package vector\n\ntype Vector struct{ Data []float64 }\n")
	write("observe.go", "//go:build opassert\n\npackage vector\n\nimport \"github.com/opassert/opassert/asserts\"\n\n"+
		"func (v *Vector) Observe(o *asserts.Observation, level asserts.Level) {\n\tasserts.ObserveSlice(o, level, v, v.Data)\n}\n")
	write("kernels/kernels.go", "package kernels\n\nimport \"example.com/vector\"\n\n//opassert:kernel clone\nfunc Clone(self *vector.Vector) *vector.Vector { return &vector.Vector{Data: self.Data} }\n")
	write("bare/main.go", fmt.Sprintf(program, "kernels", "kernels"))
	write("wrapped/main.go", fmt.Sprintf(program, "ops", "ops"))
	result := must.Get(gen.Generate(gen.Options{Schema: filepath.Join(dir, "ops.yaml"), Kernels: filepath.Join(dir, "kernels"), Out: filepath.Join(dir, "ops")}))(t)
	must.Do(t, gen.Write(result.Files))
	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	packages := func(program string, flags ...string) []string {
		all := strings.Fields(run(append(append([]string{"list", "-deps"}, flags...), "./"+program)...))
		return slices.DeleteFunc(all, func(p string) bool { return p == "example.com/vector/ops" || p == "example.com/vector/"+program })
	}
	if diff := cmp.Diff(packages("bare"), packages("wrapped")); diff != "" {
		t.Errorf("the release build has other packages:\n%s", diff)
	}
	if !slices.Contains(packages("wrapped", "-tags=opassert"), "github.com/opassert/opassert/asserts") {
		t.Error("the debug build checks nothing")
	}
	size := func(program string) int64 {
		run("build", "-o", program+".out", "./"+program)
		return must.Get(os.Stat(filepath.Join(dir, program+".out")))(t).Size()
	}
	if bare, wrapped := size("bare"), size("wrapped"); wrapped*100 > bare*103 {
		t.Errorf("the release build has %d bytes, and %d with wrappers", bare, wrapped)
	}
}

// compile returns the assembly of callers of kernels and of callers of wrappers,
// generated for a library that checks in its debug build only.
func compile(t *testing.T, flags ...string) string {
	t.Helper()
	root := must.Get(filepath.Abs("../../.."))(t)
	dir := t.TempDir()
	var functions, calls strings.Builder
	for _, p := range pairs {
		for _, way := range []struct{ prefix, pkg string }{{"bare", "kernels"}, {"wrapped", "wrappers"}} {
			fmt.Fprintf(&functions, "//go:noinline\nfunc %s%s(%s) %s { return %s.%s }\n\n", way.prefix, p.name, p.params, p.results, way.pkg, p.call)
			fmt.Fprintf(&calls, "\t_ = %s%s\n", way.prefix, p.name)
		}
	}
	source := strings.Replace(program, "CALLS", calls.String(), 1) + functions.String()
	files := map[string]string{
		"go.mod": "module github.com/opassert/opassert/callers\n\ngo 1.26.0\n\nrequire github.com/opassert/opassert v0.0.0\n\n" +
			"replace github.com/opassert/opassert => " + root + "\n",
		"main.go": source,
	}
	for name, text := range files {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	engine := filepath.Join(root, "internal/testbed/kernels")
	result := must.Get(gen.Generate(gen.Options{Schema: filepath.Join(engine, "ops.yaml"), Kernels: engine, Out: filepath.Join(dir, "wrappers")}))(t)
	must.Do(t, gen.Write(result.Files))
	cmd := exec.Command("go", append([]string{"build", "-gcflags=-S", "-o", os.DevNull}, append(flags, ".")...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return string(out)
}

const program = `package main

import (
	"context"

	"github.com/opassert/opassert/callers/wrappers"

	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/kernels"
)

func main() {
CALLS}

`

var instruction = regexp.MustCompile(`^\t0x[0-9a-f]+ (\d+) \([^)]*\)\t(.*)$`)

// body returns the instructions of a function in an assembly listing, without
// their source lines. Lines of no bytes, such as the mark of an inlined call, are not
// machine code: the next line has the same offset.
func body(asm, function string) []string {
	_, rest, _ := strings.Cut(asm, "\n"+function+" STEXT")
	var code []string
	offset := ""
	for line := range strings.Lines(rest) {
		if strings.Contains(line, " STEXT ") {
			break
		}
		m := instruction.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		if m[1] == offset {
			code = code[:len(code)-1]
		}
		offset = m[1]
		code = append(code, m[1]+" "+strings.ReplaceAll(m[2], function, "self"))
	}
	return code
}
