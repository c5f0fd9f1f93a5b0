package watch

import (
	"errors"

	"github.com/opassert/opassert/asserts"
)

// Reasons why OA014 is not judged.
const (
	notBackward = "no argument requires grad where autograd records, " +
		"or the program's backward does not reach the result"
	ownFormula     = "not judged of PyTorch's own ops, which have formulas or are declared not to be differentiable"
	decomposedHere = "the op decomposes: the formulas are those of the ops that it calls"
)

// backwards describe a backward through an op without a formula, and the consequence.
var backwards = map[int64]struct{ saw, breaks string }{
	backwardEnds: {reaches + ", and the op has no kernel for autograd",
		"the gradient ends at the op, with a warning at most"},
	backwardRaises: {reaches + ", and raises: the op has no formula for autograd", "the program ends in its backward"},
	backwardRecords: {reaches + " through ops that the kernel calls: the op has no kernel for autograd",
		"compiled, where the kernel is opaque, the gradient ends at the op"},
}

const (
	reaches    = "the program's backward reaches it"
	addFormula = "register a formula: torch.library.register_autograd, or a kernel at the dispatch key Autograd, " +
		"as of a torch::autograd::Function, which calls the op below autograd; " +
		"or register the op as CompositeImplicitAutograd"
)

// backward records an op without a formula, when a backward reaches its result, and returns the message to raise.
func (p *process) backward(data []byte) ([]byte, error) {
	var at come
	rest, _ := at.read(data)
	how, known := backwards[at.backward]
	op := p.run.ops.numbered(at.op)
	if len(rest) == 0 || !known || op == nil || !op.followed ||
		at.result < 0 || at.result >= int64(len(op.judged.Results)) {
		return nil, errors.New("the watcher's record of a backward has an unknown op")
	}
	v := &asserts.Violation{
		Code: asserts.AutogradKernel, Op: op.judged.Name, Schema: op.judged.Schema,
		Subject: op.judged.Results[at.result].Place(true, asserts.NoElement, ""),
	}
	v.Saw, v.Breaks, v.Fix = how.saw, how.breaks, addFormula
	return p.add([]*asserts.Violation{v}, string(rest))
}
