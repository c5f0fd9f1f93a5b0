package probe

import (
	"testing"

	"github.com/opassert/opassert/schema"
)

// Only ops that are meant to return uninitialized memory may do so.
func TestLeaves(t *testing.T) {
	for name, want := range map[string]bool{
		"empty_like": true, "_empty_affine_quantized": true, "new_empty_strided": true, "resize_": true, "resize_as_sparse_": true, "_resize_output_": true, "resizes": true,
		"resize_bilinear": false, "remove_empty_rows": false, "add": false,
	} {
		if LeavesMemory(&schema.Op{Func: schema.Function{Name: schema.Name{Base: name}}}) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}
