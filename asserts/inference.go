package asserts

import "slices"

// InferenceReturns returns notes of the returns that are inference tensors, where the call
// is made outside of inference mode and no argument is one.
func InferenceReturns(op *Op, seen *Seen) []Fault {
	args := slices.DeleteFunc(slices.Clone(seen.Before), func(o Observation) bool { return !o.Defined() })
	if len(args) == 0 || slices.ContainsFunc(args, inference) {
		return nil
	}
	var faults []Fault
	for i, tensors := range split(seen.Results, seen.ResultLens, op.Results) {
		if slices.ContainsFunc(tensors, inference) {
			faults = append(faults, Fault{
				Code: AutogradKernel, Return: op.Results[i].Index + 1,
				Saw:    "it is an inference tensor, and no argument is",
				Fix:    "leave inference mode before the result is made: torch.no_grad() in its place, or clone() outside of it",
				Breaks: "a program that saves the result for backward, or writes it in place, outside of inference mode is refused",
				Note:   "an op for inference alone may want that",
			})
		}
	}
	return faults
}

func inference(o Observation) bool { return o.Traits&NoVersion != 0 }
