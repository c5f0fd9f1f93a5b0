// Package aten holds the test of the typed functions over libtorch: they are
// generated for every op of PyTorch 1.13.1, compiled, and some dozens called.
package aten

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/opassert/opassert/gen"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/testdata/conformance"
)

func TestTypedFunctionsOverLibtorch(t *testing.T) {
	if os.Getenv("OPASSERT_LONG") == "" {
		t.Skip("compiles 2952 functions; OPASSERT_LONG=1 runs it")
	}
	libtorchtest.Need(t)
	table := must.Get(conformance.Load("1.13.1"))(t)
	root := must.Get(filepath.Abs("../../../.."))(t)
	calls := must.Get(os.ReadFile("testdata/aten_test.go.txt"))(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "aten")
	for path, text := range map[string][]byte{
		filepath.Join(dir, "native_functions.yaml"): table.Source,
		filepath.Join(out, "aten_test.go"):          calls,
		filepath.Join(dir, "go.mod"): []byte("module example.com/user\n\ngo 1.26.0\n\nrequire github.com/opassert/opassert v0.0.0\n\n" +
			"replace github.com/opassert/opassert => " + root + "\n"),
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, text, 0o666))
	}
	result := must.Get(gen.GenerateTyped(gen.Options{Schema: filepath.Join(dir, "native_functions.yaml"), Out: out}))(t)
	if result.Made+len(result.Skipped) != 2952 || result.Made < 2900 {
		t.Errorf("%d functions and %d skipped ops for 2952", result.Made, len(result.Skipped))
	}
	must.Do(t, gen.Write(result.Files))
	cmd := exec.Command("go", "test", "-vet=off", "-tags=opassert", "./aten")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
