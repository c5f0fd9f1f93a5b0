package torch

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
)

// HasRules reports whether rules of an op are called: where kernels are Python's, and formulas of a library's ops.
func (l *Libtorch) HasRules(op *asserts.Op) bool {
	if l.host != nil {
		return true
	}
	live, err := libtorch.Lookup(op.Name)
	return err == nil && l.Loaded(op.Name) && live.Autograd && !live.Composite && l.device.Name == ""
}

// Rules calls an op's formula for autograd and its rules for vmap and autocast, and returns their faults, or why they
// can't be called. Where calls begin at a backend they are those that a user registered.
func (l *Libtorch) Rules(op *asserts.Op, args []any) ([]asserts.Fault, string) {
	if l.host == nil {
		return formulaFaults(op, args)
	}
	name := ownRulesOp
	if l.out.Autograd {
		name = rulesOp
	}
	text, err := passTo(name, op, args)
	if err != nil {
		return nil, "the rules could not be called: " + err.Error()
	}
	var said struct {
		Why    string
		Faults []ruleFault
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return nil, fmt.Sprintf("the answer %q can't be read: %v", text, err)
	}
	return faultsOf(asserts.AutogradKernel, said.Faults), said.Why
}

// The step of an argument, the relative error allowed between differences, and the largest element to which a step is
// added, as in opassert_host/gradcheck.py.
const (
	step    = 1.0 / 128
	rough   = 0.05
	largest = 64
)

// A formula calls an op of a library through autograd, with copies of its arguments.
type formula struct {
	op      *libtorch.Op
	given   []libtorch.Value
	graded  []int // the arguments that can require grad
	precise bool  // a step can be added to these
	made    []libtorch.Tensor
	err     error // the first of an op of PyTorch
}

// formulaFaults compares the gradients of a library's formula, for all arguments and for each alone, with differences.
func formulaFaults(op *asserts.Op, args []any) ([]asserts.Fault, string) {
	live, err := libtorch.Lookup(op.Name)
	if err != nil {
		return nil, err.Error()
	}
	f := formula{op: live, given: torchValues(args), precise: true}
	defer func() { libtorch.ReleaseAll(f.made...) }()
	for i, v := range f.given {
		if live.Args[i].Write {
			return nil, "it writes an argument, which no copy shows"
		}
		if seen, _ := v.Tensor.See(asserts.Content); isFloat(seen.Content) {
			dtype, _ := libtorch.ParseDType(seen.Content.DType)
			f.graded = append(f.graded, i)
			f.precise = f.precise && small(v.Tensor, dtype)
		}
	}
	arguments, results, err := f.call(f.graded, -1, 0)
	if err != nil || len(results) == 0 {
		return nil, "no argument can require grad, or the call raises where one does, or no result requires it"
	}
	gradients, err := f.gradients(arguments, results)
	switch {
	case f.err != nil:
		return nil, f.err.Error()
	case err != nil && strings.Contains(err.Error(), "derivative for "): // of autogradNotImplementedFallback
		return nil, "its kernel for autograd raises that there is no gradient"
	case err != nil:
		saw := "its backward raises " + thrown(err).Error()
		return []asserts.Fault{{Code: asserts.AutogradKernel, Symptom: "backward", Saw: saw}}, ""
	}
	var faults []asserts.Fault
	for n, i := range f.graded {
		if fault := f.judge(i, gradients[n]); fault != nil {
			fault.Code, fault.Argument = asserts.AutogradKernel, live.Args[i].Name
			faults = append(faults, *fault)
		}
	}
	return faults, ""
}

// judge compares the gradient of an argument with differences of the kernel, and with its gradient where it alone
// requires grad.
func (f *formula) judge(i int, gradient libtorch.Tensor) *asserts.Fault {
	name, got, found := f.op.Args[i].Name, 0.0, "none"
	if gradient.Defined() {
		got = f.weighed(gradient)
		found = fmt.Sprintf("%.4g", got)
	}
	if want := f.slope(i); !math.IsNaN(want) && !(math.Abs(got-want) < 2*rough*math.Abs(want)) {
		saw := "its gradient of %s is not the derivative: %s along a direction in which the op changes by %.4g"
		return &asserts.Fault{Symptom: "derivative", Saw: fmt.Sprintf(saw, name, found, want)}
	}
	arguments, results, err := f.call([]int{i}, -1, 0)
	if err != nil || len(results) == 0 {
		return nil
	}
	alone, err := f.gradients(arguments, results)
	saw := fmt.Sprintf("where %s alone requires grad its backward ", name)
	fix := "compute the gradient that backward returns where others require grad too"
	if err != nil {
		return &asserts.Fault{Saw: saw + "raises " + thrown(err).Error(), Fix: fix}
	}
	other := alone[0].Defined() != gradient.Defined()
	if other || gradient.Defined() && math.Abs(f.weighed(alone[0])-got) > 1e-2*math.Abs(got)+1e-3 {
		return &asserts.Fault{Saw: saw + "returns another gradient of " + name, Fix: fix}
	}
	return nil
}

// slope returns how the weighed sum of the results changes with an argument, NaN where that is not smooth or precise.
func (f *formula) slope(i int) float64 {
	if !f.precise {
		return math.NaN()
	}
	below, here, above, half := f.sum(i, -step), f.sum(i, 0), f.sum(i, step), f.sum(i, step/2)
	left, right, near := (here-below)/step, (above-here)/step, (half-here)/(step/2)
	bound := rough * math.Abs(near)
	if bound > 1e-3*math.Abs(here) && math.Abs(left-near) < bound && math.Abs(right-near) < bound {
		return near
	}
	return math.NaN()
}

func (f *formula) sum(i int, at float64) float64 {
	_, results, err := f.call([]int{i}, i, at)
	if err != nil {
		return math.NaN()
	}
	sum := 0.0
	for _, t := range results {
		sum += f.weighed(t)
	}
	return sum
}

// call returns copies of arguments that require grad, one of which is a step away, and the results with a history.
func (f *formula) call(of []int, moved int, at float64) (arguments, results []libtorch.Tensor, err error) {
	values := slices.Clone(f.given)
	for _, i := range f.graded {
		x := f.given[i].Tensor
		copied := f.of("aten::clone", x.Value())
		if i == moved {
			copied = f.of("aten::add.Tensor", x.Value(), f.distinct(x).Value(), libtorch.Float(at))
		}
		values[i] = copied.Value()
		if slices.Contains(of, i) {
			f.of("aten::requires_grad_", copied.Value(), libtorch.Bool(true))
			arguments = append(arguments, copied)
		}
	}
	out := libtorch.Outcome{Autograd: true}
	if err := libtorch.Seed(0); err != nil { // so that an op with random numbers draws the same ones
		return nil, nil, err
	}
	if err := f.op.Call(asserts.Off, &out, values...); err != nil {
		return nil, nil, err
	}
	for _, v := range out.Results {
		for _, t := range append(v.Tensors, v.Tensor) {
			if seen, _ := t.See(asserts.Content); isFloat(seen.Content) && seen.Content.RequiresGrad && !seen.Content.Leaf {
				results = append(results, t)
			}
			f.made = append(f.made, t)
		}
	}
	return arguments, results, f.err
}

// gradients returns those of arguments for distinct gradients of results.
func (f *formula) gradients(arguments, results []libtorch.Tensor) ([]libtorch.Tensor, error) {
	gradients, err := libtorch.Gradients(arguments, results, slicesx.Map(results, f.distinct))
	f.made = append(f.made, gradients...)
	return gradients, err
}

// distinct returns a tensor of the sizes and the dtype of t whose elements differ from their neighbours, and are not 1.
func (f *formula) distinct(t libtorch.Tensor) libtorch.Tensor {
	seen, err := t.See(asserts.Content)
	if err != nil || seen.Content == nil {
		f.err = cmp.Or(f.err, err)
		return libtorch.Tensor{}
	}
	spec := libtorch.Spec{Sizes: seen.Content.Sizes}
	spec.DType, _ = libtorch.ParseDType(seen.Content.DType)
	spec.Values = make([]float64, tensor.Numel(spec.Sizes))
	for i := range spec.Values {
		spec.Values[i] = float64(i%4+5) / 4 * float64(1-i%2*2)
	}
	made, err := libtorch.Make(spec)
	f.made, f.err = append(f.made, made), cmp.Or(f.err, err)
	return made
}

// weighed returns the sum of the elements of a tensor, each times that of its distinct.
func (f *formula) weighed(t libtorch.Tensor) float64 {
	double, _ := libtorch.ParseDType("float64")
	product := f.of("aten::mul.Tensor", t.Value(), f.distinct(t).Value())
	sum, err := f.of("aten::sum", product.Value(), double.Value()).Bytes()
	if err != nil || len(sum) < 8 {
		f.err = cmp.Or(f.err, err)
		return math.NaN()
	}
	return math.Float64frombits(binary.NativeEndian.Uint64(sum))
}

// of returns the result of one of PyTorch's ops.
func (f *formula) of(name string, args ...libtorch.Value) libtorch.Tensor {
	v, err := result(name, args...)
	f.made, f.err = append(f.made, v.Tensor), cmp.Or(f.err, err)
	return v.Tensor
}

// isFloat reports whether a tensor has elements to which a step can be added.
func isFloat(c *asserts.Snapshot) bool {
	return c != nil && (c.DType == "float32" || c.DType == "float64")
}

// small reports whether the elements of a tensor have digits for a step.
func small(t libtorch.Tensor, dtype libtorch.DType) bool {
	data, err := t.Bytes()
	for size := tensor.DType(dtype).Size(); len(data) >= size; data = data[size:] {
		if !(math.Abs(tensor.DType(dtype).Get(data)) <= largest) {
			return false
		}
	}
	return err == nil
}
