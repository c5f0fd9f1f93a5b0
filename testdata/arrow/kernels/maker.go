package kernels

import (
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/opassert/opassert/asserts/maker"
)

// FromSpec makes an array, of all values or of some in the midst of others.
//
//opassert:make
func FromSpec(s maker.Spec) (*array.Float64, error) {
	if _, err := maker.Elements[float64](s, 1); err != nil {
		return nil, err
	}
	all, err := maker.Storage[float64](s)
	if err != nil {
		return nil, err
	}
	whole := build(len(all), func(i int) (float64, bool) { return all[i], true })
	defer whole.Release()
	return array.NewSlice(whole, s.Offset, s.Offset+int64(s.Len())).(*array.Float64), nil
}

// Options says that arrays are released.
//
//opassert:options
func Options() []maker.Option {
	return []maker.Option{maker.Release((*array.Float64).Release)}
}
