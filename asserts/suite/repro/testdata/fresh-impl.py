# x::f: fresh-impl
#
# f(Tensor self) -> Tensor
#
# x::f(...)
#
# Rule: a return without (a!) is a new TensorImpl that nobody else holds.
# Here: result: what the run saw.
# So:   whoever else holds it sees, or makes, changes that autograd knows nothing of.
# Fix:  what to change.
#
# Seen with libtorch 2.6.0. The exit status is 1 while it is so, 0 where it is not, 2 where the
# call raises.

import sys

import torch


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
try:
    result = torch.ops.x.f.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if result is self:
    print("the fault is there: result is not a new tensor")
    sys.exit(1)
print("the fault is not there")
