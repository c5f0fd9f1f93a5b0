package asserts

import "slices"

// AutogradKernel is OA014.
const AutogradKernel Code = 14

var _ = add(check{
	code:    AutogradKernel,
	name:    "autograd-kernel",
	promise: Kernels,
	rule:    "an op that makes or writes a tensor from one that requires grad has a kernel for autograd, or decomposes, and returns no leaf; its formula, and its rules for vmap and autocast, take what its kernel takes",
	breaks:  "the gradient ends at the op without an error, is that of what its kernel happens to call, or a program ends in what is registered beside the kernel",
	level:   Content,
	about:   Return,
	plans:   func(*Op, *Subject, *Subject) bool { return true },
	judges:  (*judge).autogradKernels,
	when:    func(seen *Seen) bool { return seen.Autograd },
	fixes: func(_ *Op, v *Violation) string {
		if v.After.Content.Leaf {
			return "return what autograd makes: take requires_grad_ and set_requires_grad out of the kernel"
		}
		return "register a kernel at the dispatch key Autograd: a torch::autograd::Function, or torch::autograd::autogradNotImplementedFallback() where there is no gradient; or register the op as CompositeImplicitAutograd"
	},
	skips: reliable,
})

// autogradKernels leaves returns that are an argument, and are not written, to OA007
// and to their declaration. A kernel for autograd may return a tensor that requires no
// grad, because there is no derivative or by mistake: nothing distinguishes the two.
//
// Source: torch/testing/_internal/optests/autograd_registration.py, which has
// the half that a kernel calls into autograd.
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
			reason = "the op's kernel for autograd, or what it decomposes into, says that there is no gradient"
		}
		if reason != "" {
			j.skipped[Skip{Code: AutogradKernel, Reason: reason}]++
			continue
		}
		if !j.judged(AutogradKernel, &out.Observation) || j.op.Autograd && !out.Content.Leaf {
			continue
		}
		v := j.reportOutput(AutogradKernel, out)
		switch {
		case out.Content.Leaf:
			v.Saw = v.Subject.String() + " is a leaf that requires grad: nothing leads from it to the argument that does"
		case out.Content.RequiresGrad:
			v.Saw = v.Subject.String() + " requires grad by what the kernel of a backend calls: the op has none for autograd"
		default:
			v.Saw = "an argument requires grad, " + v.Subject.String() + " does not, and the op has no kernel for autograd"
		}
	}
}

// graded reports whether a tensor required grad before the call.
func (in *input) graded() bool { return in.before.Content != nil && in.before.Content.RequiresGrad }
