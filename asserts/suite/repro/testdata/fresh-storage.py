# x::f: fresh-storage
#
# f(Tensor self) -> Tensor
#
# x::f(...)
#
# Rule: a return without an alias set has a StorageImpl that nobody else holds, over memory of its own.
# Here: result: what the run saw.
# So:   a later in-place write to the result changes a tensor that nobody knows to be related.
# Fix:  what to change.
#
# Seen with libtorch 2.6.0. The exit status is 1 while it is so, 0 where it is not, 2 where the
# call raises.

import sys

import torch


def uses(t):
    """Returns how many hold the storage of a tensor."""
    return torch._C._storage_Use_Count(t.untyped_storage()._cdata)


self = torch.tensor([False], dtype=torch.bool).reshape(())
try:
    result = torch.ops.x.f.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if uses(result) > uses(torch.empty(1)):
    print("the fault is there: the memory of result is not its own")
    sys.exit(1)
print("the fault is not there")
