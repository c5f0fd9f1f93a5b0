package asserts

import "slices"

// Marks of autograd that a return may have, with what is said of one that no argument has.
var marks = []struct {
	on    func(Observation) bool
	fault Fault
}{
	{inference, Fault{
		Saw:    "it is an inference tensor, and no argument is",
		Fix:    "leave inference mode before the result is made: torch.no_grad() in its place, or clone() outside of it",
		Breaks: "a program that saves the result for backward, or writes it in place, outside of inference mode is refused",
		Note:   "an op for inference alone may want that",
	}},
	{leaf, Fault{
		Saw:    "it requires grad, and no argument does",
		Fix:    "take requires_grad_ and set_requires_grad out of the kernel: who wants a gradient asks for it",
		Breaks: "a program that writes the result in place is refused, and keeps what it computes from it for a backward that is never called; compiled, it does neither",
		Note:   "an op that makes parameters may want that",
	}},
}

// MarkedReturns returns notes of the returns that have a mark of autograd, where the call is made
// outside of inference mode, and no argument has it. Returns that are an argument are that's.
func MarkedReturns(op *Op, seen *Seen) []Fault {
	args := slices.DeleteFunc(slices.Clone(seen.Before), func(o Observation) bool { return !o.Defined() })
	if len(args) == 0 {
		return nil
	}
	var faults []Fault
	for i, tensors := range split(seen.Results, seen.ResultLens, op.Results) {
		made := slices.DeleteFunc(slices.Clone(tensors), func(o Observation) bool {
			return slices.ContainsFunc(args, func(a Observation) bool { return a.Impl == o.Impl })
		})
		for _, mark := range marks {
			if slices.ContainsFunc(made, mark.on) && !slices.ContainsFunc(args, mark.on) {
				fault := mark.fault
				fault.Code, fault.Return = AutogradKernel, op.Results[i].Index+1
				faults = append(faults, fault)
			}
		}
	}
	return faults
}

func inference(o Observation) bool { return o.Traits&NoVersion != 0 }

func leaf(o Observation) bool { return o.Content != nil && o.Content.Leaf }
