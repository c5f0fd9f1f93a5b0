//go:build opassert

package dense_test

import (
	"testing"

	"github.com/opassert/opassert/asserts/maker"
	"github.com/opassert/opassert/asserts/optest"

	"example.com/dense/kernels"
	"example.com/dense/ops"
)

func TestOps(t *testing.T) {
	optest.Run(t, ops.Kernels, kernels.FromSpec, maker.Observe(kernels.Observe))
}
