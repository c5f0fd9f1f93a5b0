package asserts

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestInModule(t *testing.T) {
	const command = "example.com/vector/cmd/train"
	for _, test := range []struct{ function, file, module, want string }{
		{"main.main", "/src/vector/cmd/train/main.go", "example.com/vector", "cmd/train/main.go"},
		{"example.com/a%zz.F", "/src/a/f.go", "example.com/vector", "example.com/a%zz/f.go"},
		{"example.com/vector.Normalize", "/src/vector/model.go", "example.com/vector", "model.go"},
		{"example.com/vector/layers.(*Block).Forward", "/src/vector/layers/block.go", "example.com/vector", "layers/block.go"},
		{"example.com/vector_test.TestBlock", "/src/vector/block_test.go", "example.com/vector", "block_test.go"},
		{"example.com/vector_test.Block", "/src/vector_test/block.go", "example.com/vector", "example.com/vector_test/block.go"},
		{"example.com/vector2.F", "/src/vector2/f.go", "example.com/vector", "example.com/vector2/f.go"},
		{"gopkg.in/yaml%2ev3.(*Node).Decode", "/cache/yaml.v3@v3.0.1/yaml.go", "example.com/vector", "gopkg.in/yaml.v3/yaml.go"},
		{"example.com/vector.F", "/src/vector/f.go", "", "example.com/vector/f.go"},
		{"", "/src/f.s", "example.com/vector", "f.s"},
	} {
		frame := runtime.Frame{Function: test.function, File: test.file}
		program := &debug.BuildInfo{Path: command, Main: debug.Module{Path: test.module}}
		if got := inModule(frame, program); got != test.want {
			t.Errorf("inModule(%s, %s) = %s, want %s", test.function, test.file, got, test.want)
		}
	}
	alone := &debug.BuildInfo{Path: "command-line-arguments"}
	if got := inModule(runtime.Frame{Function: "main.main", File: "/src/train.go"}, alone); got != "train.go" {
		t.Errorf("in a file that go run was given: %s, want train.go", got)
	}
}
