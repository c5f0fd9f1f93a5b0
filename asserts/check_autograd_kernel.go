package asserts

import "slices"

// AutogradKernel is OA014.
const AutogradKernel Code = 14

var _ = add(checkRow{
	code: AutogradKernel,
	name: "autograd-kernel",
	rule: "an op that makes or writes a tensor from one that requires grad has a kernel for autograd, or decomposes, " +
		"and returns no leaf; its formula, and its rules for vmap and autocast, accept what its kernel accepts",
	breaks: "the gradient ends at the op without an error, is that of the ops that its kernel calls, or a program fails " +
		"in a function registered beside the kernel",
	level:  Content,
	about:  Return,
	plans:  func(*Op, *Subject, *Subject) bool { return true },
	judges: (*judge).autogradKernels,
	when:   func(seen *Seen) bool { return seen.Autograd },
	fixes: func(_ *Op, v *Violation) string {
		if v.After.Content.Leaf {
			return "return autograd's result: remove requires_grad_ and set_requires_grad from the kernel"
		}
		return "register a kernel at the dispatch key Autograd: a torch::autograd::Function, or " +
			"torch::autograd::autogradNotImplementedFallback() where there is no gradient; or register the op as " +
			"CompositeImplicitAutograd"
	},
	skips: reliable,
})

// autogradKernels leaves returns that are an unwritten argument to OA007 and to their declaration. A kernel for
// autograd may return a tensor that requires no grad, intentionally or by mistake: nothing distinguishes the two.
//
// Source: torch/testing/_internal/optests/autograd_registration.py, which checks kernels that call into autograd.
func (j *judge) autogradKernels() {
	graded := slices.ContainsFunc(j.inputs, (*input).graded)
	for _, out := range j.outputs {
		if !out.codes.Has(AutogradKernel) || !out.Defined() {
			continue
		}
		reason := ""
		switch {
		case !out.Write && len(j.byImpl[out.Impl]) > 0:
			reason = "it is an argument, and not written"
		case out.Content == nil:
			reason = "contents not observed"
		case !gradable(out.Content.DType):
			reason = "a tensor of its dtype can't require grad"
		case !graded:
			reason = "no argument requires grad"
		case slices.ContainsFunc(j.byImpl[out.Impl], (*input).graded):
			reason = "the argument that is written required grad before the call"
		case j.op.Autograd && !out.Content.RequiresGrad:
			reason = "the op's kernel for autograd, or its decomposition, has no gradient"
		}
		if reason != "" {
			j.skipped[Skip{Code: AutogradKernel, Reason: reason}]++
			continue
		}
		if !j.judged(AutogradKernel, &out.Observation) || j.op.Autograd && !out.Content.Leaf {
			continue
		}
		switch v := j.reportOutput(AutogradKernel, out); {
		case out.Content.Leaf:
			v.Saw = v.Subject.String() + " is a leaf that requires grad: its history does not lead to the argument " +
				"that requires grad"
		case out.Content.RequiresGrad:
			v.Saw = v.Subject.String() + " requires grad through the ops that a backend's kernel calls: the op has no " +
				"kernel for autograd"
		default:
			v.Saw = "an argument requires grad, " + v.Subject.String() + " does not, and the op has no kernel for autograd"
		}
	}
}

func (in *input) graded() bool { return in.before.Content != nil && in.before.Content.RequiresGrad }
