# x::f: kept-argument
#
# f(Tensor self) -> Tensor
#
# x::f(...)
#
# Rule: once the call is over nobody holds an argument but those who did before, and what is returned.
# Here: argument self: what the run saw.
# So:   what the op keeps it may write later, when nobody expects it; a lost reference is memory that is never freed.
# Fix:  what to change.
#
# Seen with libtorch 2.6.0. The exit status is 1 while it is so, 0 where it is not, 2 where the
# call raises.

import sys

import torch


def uses(t):
    """Returns how many hold the storage of a tensor."""
    return torch._C._storage_Use_Count(t.untyped_storage()._cdata)


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32).requires_grad_()
before = self._use_count(), uses(self)
try:
    result = torch.ops.x.f.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
del result
if (self._use_count(), uses(self)) > before:
    print("the fault is there: somebody holds self once the call is over")
    sys.exit(1)
print("the fault is not there")
