package asserts

import "slices"

// AutogradKernel is OA014.
const AutogradKernel Code = 14

var _ = add(check{
	code:   AutogradKernel,
	name:   "autograd-kernel",
	rule:   "an op that makes a tensor from one that requires grad has a kernel for autograd, or decomposes",
	breaks: "the gradient ends at the op without an error, or is that of what its kernel happens to call",
	level:  Content,
	about:  Return,
	plans:  func(_ *Op, on, _ *Subject) bool { return !on.aliased() },
	judges: (*judge).autogradKernels,
	when:   func(seen *Seen) bool { return seen.Autograd },
	fixes: func(*Op, *Violation) string {
		return "register a kernel at the dispatch key Autograd: a torch::autograd::Function, or torch::autograd::autogradNotImplementedFallback() where there is no gradient; or register the op as CompositeImplicitAutograd"
	},
	skips: reliable,
})

// autogradKernels leaves returns that are an argument to OA007.
//
// Source: torch/testing/_internal/optests/autograd_registration.py, which has
// the half that a kernel calls into autograd.
func (j *judge) autogradKernels() {
	graded := slices.ContainsFunc(j.inputs, func(in input) bool { return in.before.Content != nil && in.before.Content.RequiresGrad })
	for i := range j.outputs {
		out := &j.outputs[i]
		if !out.codes.Has(AutogradKernel) || !out.Defined() || len(j.byImpl[out.Impl]) > 0 {
			continue
		}
		reason := ""
		switch {
		case out.Content == nil:
			reason = "contents not observed"
		case !gradable(out.Content.DType):
			reason = "a tensor of its dtype can't require grad"
		case !graded:
			reason = "no argument requires grad"
		}
		if reason != "" {
			j.skipped[Skip{Code: AutogradKernel, Reason: reason}]++
			continue
		}
		if !j.judged(AutogradKernel, &out.Observation) || j.op.Autograd {
			continue
		}
		v := j.reportOutput(AutogradKernel, out)
		v.Saw = "an argument requires grad, " + v.Subject.String() + " does not, and the op has no kernel for autograd"
		if out.Content.RequiresGrad {
			v.Saw = v.Subject.String() + " requires grad by what the kernel of a backend calls: the op has none for autograd"
		}
	}
}
