package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
)

// Marks of autograd on a return, each with the fault reported if no argument has it.
var marks = []struct {
	on    func(asserts.Observation) bool
	fault asserts.Fault
}{
	{inference, asserts.Fault{
		Symptom: asserts.Inference,
		Saw:     "{} is an inference tensor, and no argument is",
		Fix:     "leave inference mode before making the result: use torch.no_grad(), or clone() outside of it",
		Breaks:  "a program cannot save the result for backward, or write it in place, outside of inference mode",
	}},
	{leaf, asserts.Fault{
		Symptom: asserts.Leaf,
		Saw:     "{} requires grad, and no argument does",
		Fix:     "remove requires_grad_ and set_requires_grad from the kernel: callers ask for gradients",
		Breaks:  "a program cannot write the result in place, and saves tensors for a backward that is never called; compiled, it does neither",
	}},
}

// markedReturns notes the returns that have a mark of autograd, if the call is made outside of
// inference mode and no argument has the mark. Returns that are an argument are ignored.
func markedReturns(op *asserts.Op, seen *asserts.Seen) []asserts.Fault {
	args := slices.DeleteFunc(slices.Clone(seen.Before), func(o asserts.Observation) bool { return !o.Defined() })
	if len(args) == 0 {
		return nil
	}
	var faults []asserts.Fault
	_, _, results := seen.Split(op)
	for i, tensors := range results {
		made := slices.DeleteFunc(slices.Clone(tensors), func(o asserts.Observation) bool {
			return slices.ContainsFunc(args, func(a asserts.Observation) bool { return a.Impl == o.Impl })
		})
		for _, mark := range marks {
			if slices.ContainsFunc(made, mark.on) && !slices.ContainsFunc(args, mark.on) {
				fault := mark.fault
				fault.Code, fault.Return = asserts.AutogradKernel, op.Results[i].Index+1
				faults = append(faults, fault)
			}
		}
	}
	return faults
}

func inference(o asserts.Observation) bool { return o.Traits&asserts.NoVersion != 0 }

func leaf(o asserts.Observation) bool { return o.Content != nil && o.Content.Leaf }
