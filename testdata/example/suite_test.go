//go:build opassert

package vector_test

import (
	"testing"

	"github.com/opassert/opassert/asserts/optest"

	"example.com/vector"
	"example.com/vector/ops"
)

// TestOps finds the bug of Clamp, and so fails.
func TestOps(t *testing.T) { optest.Run(t, ops.Kernels, vector.FromSpec) }
