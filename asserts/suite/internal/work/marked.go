package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
)

// Marks of autograd on a return, each with the fault reported if no argument has it.
var marks = []struct {
	on      func(asserts.Observation) bool
	symptom asserts.Symptom
	saw     string
}{
	{inference, "inference", "{} is an inference tensor, and no argument is"},
	{leaf, "leaf", "{} requires grad, and no argument does"},
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
				faults = append(faults, asserts.Fault{
					Code: asserts.AutogradKernel, Symptom: mark.symptom, Return: op.Results[i].Index + 1, Saw: mark.saw,
				})
			}
		}
	}
	return faults
}

func inference(o asserts.Observation) bool { return o.Traits&asserts.NoVersion != 0 }

func leaf(o asserts.Observation) bool { return o.Content != nil && o.Content.Leaf }
