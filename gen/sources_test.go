package gen

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// The header names files equally on every machine, and from every folder.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	module := filepath.Join(dir, "module")
	must.Do(t, os.MkdirAll(filepath.Join(module, "sub"), 0o777))
	must.Do(t, os.WriteFile(filepath.Join(module, "go.mod"), nil, 0o666))
	tests := []struct {
		name, from string
		options    Options
		want       []string
	}{
		{"from the root", "module", Options{Schema: "ops.yaml", Kernels: "./kernels", Out: "./sub/ops"}, []string{"ops.yaml", "kernels"}},
		{"from elsewhere", "module/sub", Options{Schema: "../ops.yaml", Kernels: "../kernels", Out: "ops"}, []string{"ops.yaml", "kernels"}},
		{"absolute", ".", Options{Schema: filepath.Join(module, "ops.yaml"), Out: filepath.Join(module, "sub", "ops")}, []string{"ops.yaml"}},
		{"absolute, outside", "module", Options{Schema: filepath.Join(dir, "torch", "ops.yaml"), Out: "ops"}, []string{"ops.yaml"}},
		{"relative, outside", "module/sub", Options{Schema: "../../torch/ops.yaml", Out: "ops"}, []string{"../torch/ops.yaml"}},
		{"absolute, below", ".", Options{Schema: filepath.Join(module, "sub", "ops.yaml"), Out: filepath.Join(module, "ops")}, []string{"sub/ops.yaml"}},
		{"a preset from elsewhere", "module/sub", Options{Schema: "ops.yaml", Out: "ops", Allow: []string{"pytorch-2.6"}}, []string{"sub/ops.yaml", "pytorch-2.6"}},
		{"no module", ".", Options{Schema: "ops.yaml", Out: "ops"}, []string{"../ops.yaml"}},
		{
			"all kinds", "module",
			Options{Schema: "a.yaml", Tags: "tags.yaml", Kernels: "sub", Out: "ops", Allow: []string{"pytorch-2.6", "allow.yaml"}},
			[]string{"a.yaml", "tags.yaml", "sub", "pytorch-2.6", "allow.yaml"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(filepath.Join(dir, filepath.FromSlash(tt.from)))
			got, err := tt.options.sources()
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("sources = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
