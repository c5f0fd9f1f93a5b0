package gentest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
