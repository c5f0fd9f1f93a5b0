package faults

import (
	"math"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/kernels"
)

var _ = planting(asserts.UndeclaredWrite, plant{
	acts: []act{
		{name: "writes", why: "writes an element that the schema does not declare as written", at: inArguments,
			do:      change(scribble),
			library: &LibraryAct{At: "read", Does: "t.mul_(0.5);", Trigger: "a tensor that is not zero"}},
		{name: "flips_bit", why: "changes one bit", at: inTensor, do: change(flipBit)},
		{name: "negates_zero", why: "turns 0.0 into -0.0", at: inTensor, do: change(negateZeros),
			of: func() *c10.Tensor { return vector(0, 1) }},
		{name: "changes_nan", why: "changes the payload of a NaN", at: inTensor, do: change(changeNaNs),
			of: func() *c10.Tensor { return vector(math.NaN(), 1) }},
		{name: "writes_beside", why: "writes bytes of the storage outside the view", at: inTensor,
			do: change(writeBehind), of: half},
		{name: "moves_offset", why: "changes the storage offset to where the values are the same", at: inTensor,
			do: change(moveOffset), of: fives},
		{name: "turns", why: "transposes an argument", at: inTensor, do: change(turn), of: matrix},
		{name: "enlarges", why: "resizes an argument", at: inTensor, do: change(enlarge)},
	},
	more: func() []Planted {
		read := func(op, subject string, args func() []any, why string) Planted {
			return Planted{
				Op: "fault::" + op, Code: asserts.UndeclaredWrite, Class: OutOfPlace, Kind: Tensor, Subject: subject,
				Element: asserts.NoElement, Args: args, Why: why,
			}
		}
		return []Planted{
			read("writes_and_fails", "x", func() []any { return []any{four(), vector(1)} },
				"writes an argument, then returns an error"),
			read("writes_in_training", "noise", func() []any { return []any{four(), four(), true} },
				"writes the noise that it drew into an argument, in training only"),
		}
	},
	impossible: []cells{{kind: Out, why: "an out argument is declared as written"}},
})

func matrix() *c10.Tensor { return c10.FromFloats([]float64{1, 2, 3, 4, 5, 6}, []int64{2, 3}, f32) }

func part(base *c10.Tensor, n, offset int64) *c10.Tensor {
	defer base.Release()
	return base.AsStrided([]int64{n}, []int64{1}, offset)
}

func half() *c10.Tensor { return part(four(), 2, 1) }

func fives() *c10.Tensor { return part(vector(5, 5, 5, 5), 2, 1) }

func flipBit(t *c10.Tensor) { t.Bytes()[0] ^= 1 }

func negateZeros(t *c10.Tensor) {
	for i := range t.Numel() {
		if t.Float(i) == 0 {
			t.SetFloat(i, math.Copysign(0, -1))
		}
	}
}

func changeNaNs(t *c10.Tensor) {
	for i := range t.Numel() {
		if math.IsNaN(t.Float(i)) {
			t.Bytes()[(t.Offset()+i)*t.DType().Size()] ^= 1
		}
	}
}

func writeBehind(t *c10.Tensor) {
	if end := (t.Offset() + t.Numel()) * t.DType().Size(); end < int64(len(t.Bytes())) {
		t.Bytes()[end]++
	}
}

func moveOffset(t *c10.Tensor) { t.SetSizesAndStrides(t.Sizes(), t.Strides(), t.Offset()+1) }

func turn(t *c10.Tensor) { kernels.TInPlace(t) }

func enlarge(t *c10.Tensor) { t.Resize([]int64{t.Numel() + 1}) }

// WritesInTraining is rrelu_with_noise of PyTorch up to 2.5: it writes noise, which its schema does not declare.
//
//opassert:kernel fault::writes_in_training
func WritesInTraining(self, noise *c10.Tensor, training bool) *c10.Tensor {
	return kernels.RreluWithNoise(self, noise, 0.125, 0.25, training, c10.NewGenerator(1))
}

// WritesAndFails writes x before it returns an error.
//
//opassert:kernel fault::writes_and_fails
func WritesAndFails(self, x *c10.Tensor) (*c10.Tensor, error) {
	scribble(x)
	if x.Numel() != self.Numel() {
		return nil, c10.Errorf("sizes %v and %v", self.Sizes(), x.Sizes())
	}
	return negated(self), nil
}
