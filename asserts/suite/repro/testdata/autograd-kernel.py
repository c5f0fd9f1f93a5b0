# x::f: autograd-kernel
#
# f(Tensor self) -> Tensor
#
# x::f(...)
#
# Rule: an op that makes or writes a tensor from one that requires grad has a kernel for autograd, or decomposes, and returns no leaf.
# Here: result: what the run saw.
# So:   the gradient ends at the op without an error, or is that of what its kernel happens to call.
# Fix:  what to change.
#
# Seen with libtorch 2.6.0. The exit status is 1 while it is so, 0 where it is not, 2 where the
# call raises.

import sys

import torch


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32).requires_grad_()
try:
    result = torch.ops.x.f.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if not result.requires_grad or result.is_leaf:
    print("the fault is there: result was made from tensors that require grad, and has no gradient")
    sys.exit(1)
print("the fault is not there")
