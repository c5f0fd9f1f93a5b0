package kernels

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/testbed/c10"
)

// The values that PyTorch 1.13.1 writes to arguments and returns.

func TestLists(t *testing.T) {
	first, second := out(), out()
	UnbindCopyIntOut(matrix(2, 2, 1, 2, 3, 4), 0, list(first, second))
	expectRounded(t, "unbound", list(first, second), []float64{1, 2}, []float64{3, 4})
}

// Moving values keeps every bit, and integers that a float64 can't hold.
func TestMovesAreExact(t *testing.T) {
	big := numbers(math.MaxInt64, math.MinInt64+1)
	moved := list(Clone(big, nil), SelectInt(big, 0, 0))
	if moved[0].Int(1) != math.MinInt64+1 || moved[1].Int(0) != math.MaxInt64 {
		t.Errorf("moved to %v %v", moved[0].Int(1), moved[1].Int(0))
	}
}

func TestScalars(t *testing.T) {
	x := matrix(2, 3, 1, 2, 3, 4, 5, 6)
	if LocalScalarDense(vector(2.5)) != 2.5 || !Equal(x, Clone(x, nil)) || Equal(x, vector(1)) || Equal(x, T(x)) {
		t.Errorf("a scalar result is wrong")
	}
	y := Clone(x, nil)
	y.SetFloat(5, 7)
	if Equal(x, y) {
		t.Errorf("tensors of other values are equal")
	}
}

func room(n int64) *c10.Tensor { return c10.Empty([]int64{n}, c10.TensorOptions{DType: c10.Float32}) }

func TestTraining(t *testing.T) {
	x := c10.Full([]int64{400}, 3, c10.TensorOptions{DType: c10.Float32})
	for p, want := range map[float64]float64{.25: 4, .75: 12, 1: 0} {
		sum := 0.0
		for _, v := range read(Dropout(x, p, true)) {
			if v != 0 && v != want {
				t.Fatalf("an element of 3 is %v, dropped with probability %v", v, p)
			}
			sum += v
		}
		if rest := sum / 1200; p < 1 && (rest < .6 || rest > 1.4) || p == 1 && sum != 0 {
			t.Errorf("%v of the sum is left, dropped with probability %v", rest, p)
		}
	}
	if !Dropout(x, .25, false).Is(x) || !Dropout(x, 0, true).Is(x) || Dropout(x, .25, true).Is(x) {
		t.Errorf("dropout returns its argument at the wrong time")
	}

	self, noise := vector(-2, 3), vector(0, 0)
	trained := RreluWithNoise(self, noise, .1, .3, true, c10.NewGenerator(1))
	if slope := noise.Float(0); slope < .1 || slope > .3 || noise.Float(1) != 1 || trained.Float(0) != float64(float32(-2*slope)) || noise.Version() != 1 {
		t.Errorf("noise %v, result %v", read(noise), read(trained))
	}
	if got := read(RreluWithNoise(self, noise, .25, .75, false, nil)); !slices.Equal(got, []float64{-1, 3}) || noise.Version() != 1 {
		t.Errorf("evaluation returns %v, noise at version %d", got, noise.Version())
	}
}

func TestRefusals(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x, v := matrix(2, 3, 1, 2, 3, 4, 5, 6), vector(1, 2, 3)
	if _, err := Linear(ctx, x, x, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled product: %v", err)
	}
	coo := c10.NewSparseCOO(c10.FromInts([]int64{0, 1}, []int64{1, 2}, v.Options()), vector(1, 2), []int64{3}, true)
	meta := c10.Empty([]int64{1}, c10.TensorOptions{DType: c10.Float32, Device: c10.Meta})
	for _, tt := range []struct {
		want string
		call func()
	}{
		{"cannot be viewed", func() { View(T(x), []int64{6}) }},
		{"do not make", func() { View(x, []int64{4, -1}) }},
		{"two sizes", func() { View(x, []int64{-1, -1}) }},
		{"outside dimension", func() { SelectInt(x, 1, 3) }},
		{"slice step 0", func() { SliceTensor(x, 0, nil, nil, 0) }},
		{"expand of sizes", func() { Expand(v, []int64{4}, false) }},
		{"do not broadcast", func() { AddTensor(x, vector(1, 2), 1) }},
		{"share memory", func() { AddTensorInPlace(Expand(v, []int64{2, 3}, false), v, 1) }},
		{"needs a bound", func() { Clamp(x, nil, nil) }},
		{"the extremes of no elements", func() { Aminmax(room(0), nil, false) }},
		{"reduced twice", func() { SumDimIntList(x, []int64{1, -1}, false, nil) }},
		{"depends on values", func() { LocalScalarDense(meta) }},
		{"one value of a tensor of 3", func() { LocalScalarDense(v) }},
		{"probability -1", func() { Dropout(v, 2, true) }},
		{"2 out tensors for 3", func() { UnbindCopyIntOut(v, 0, list(out(), out())) }},
		{"lists of 1 and of 2", func() { ForeachAddList(list(v), list(v, v), 1) }},
		{"where a sparse_csr one", func() { CrowIndices(coo) }},
		{"elements of a sparse_coo", func() { Neg(coo) }},
	} {
		expectPanic(t, tt.want, tt.call)
	}
	for _, tt := range []struct {
		want string
		call func() (*c10.Tensor, error)
	}{
		{"cat of no tensors", func() (*c10.Tensor, error) { return Cat(nil, 0) }},
		{"0-dim", func() (*c10.Tensor, error) { return Cat(list(scalar(1)), 0) }},
		{"along dimension 1", func() (*c10.Tensor, error) { return Cat(list(x, T(x)), 1) }},
		{"do not multiply", func() (*c10.Tensor, error) { return Linear(t.Context(), x, T(x), nil) }},
	} {
		if got, err := tt.call(); err == nil || got != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, %v; want an error that says %q", got, err, tt.want)
		}
	}
}

func expectPanic(t *testing.T, want string, call func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if err, ok := recover().(*c10.Error); !ok || !strings.Contains(err.Msg, want) {
			t.Errorf("got %v, want a panic that says %q", err, want)
		}
	}()
	call()
}

// expectRounded compares values at four decimals.
func expectRounded(t *testing.T, name string, got []*c10.Tensor, want ...[]float64) {
	t.Helper()
	for i, w := range want {
		values := read(got[i])
		for k := range values {
			values[k] = math.Round(values[k]*1e4) / 1e4
		}
		if len(values) != len(w) || !slices.EqualFunc(values, w, near) {
			t.Errorf("%s: result %d is %v, want %v", name, i, values, w)
		}
	}
}
