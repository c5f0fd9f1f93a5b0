//go:build opassert

package columns_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/opassert/opassert/asserts/maker"
	"github.com/opassert/opassert/asserts/optest"

	"example.com/columns/kernels"
	"example.com/columns/ops"
)

func TestOps(t *testing.T) {
	optest.Run(t, ops.Kernels, kernels.FromSpec, maker.Observe(kernels.Observe), maker.Release((*array.Float64).Release))
}
