//go:build opassert

package columns_test

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/opassert/opassert/asserts"

	"example.com/columns/ops"
)

func column(values ...float64) *array.Float64 {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewFloat64Array()
}

// The wrappers of the debug build find each bug at its call.
func TestWrappers(t *testing.T) {
	for _, tt := range []struct {
		name string
		call func(self *array.Float64)
		want []string
	}{
		{"add", func(self *array.Float64) { ops.Add(self, self).Release() }, nil},
		{"narrow", func(self *array.Float64) { ops.Narrow(self, 1, 2).Release() }, nil},
		{"narrow of a view", func(self *array.Float64) {
			view := ops.Narrow(self, 1, 2)
			ops.Narrow(view, 0, 1).Release()
			view.Release()
		}, nil},
		{"neg", func(self *array.Float64) { ops.Neg(self).Release() }, []string{"OA016: argument self has a reference that it did not have before the call: number of references 1 -> 2"}},
		{"abs", func(self *array.Float64) {
			self.Retain()
			ops.Abs(self).Release()
		}, []string{"OA016: argument self was released once too often: number of references 2 -> 1"}},
		{"nan_to_num", func(self *array.Float64) { ops.NanToNum(self).Release() }, []string{"OA009: 4 of 4 bytes changed"}},
		{"reciprocal", func(self *array.Float64) { ops.Reciprocal(self).Release() }, []string{"OA007: result.parts.validity is argument self.parts.validity"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := new(asserts.Collector)
			defer asserts.SetReporter(found)()
			tt.call(column(1, 2, 3))
			var got []string
			for _, f := range found.Found() {
				got = append(got, f.Violation.Code.String()+": "+f.Violation.Saw)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("reported %q, want %q", got, tt.want)
			}
		})
	}
}
