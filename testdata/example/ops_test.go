package vector_test

import (
	"slices"
	"testing"

	"example.com/vector"
	"example.com/vector/ops"
)

func TestAdd(t *testing.T) {
	sum := ops.Add(vector.New(1, 2), vector.New(3, 4))
	if want := []float64{4, 6}; !slices.Equal(sum.Data(), want) {
		t.Errorf("got %v, want %v", sum.Data(), want)
	}
}
