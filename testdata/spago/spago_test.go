//go:build opassert

package spago_test

import (
	"testing"

	"github.com/opassert/opassert/asserts/maker"
	"github.com/opassert/opassert/asserts/optest"

	"example.com/spago/kernels"
	"example.com/spago/ops"
)

func TestOps(t *testing.T) {
	optest.Run(t, ops.Kernels, kernels.FromSpec, maker.Observe(kernels.Observe))
}

func FuzzOps(f *testing.F) {
	optest.Fuzz(f, ops.Kernels, kernels.FromSpec, maker.Observe(kernels.Observe))
}
