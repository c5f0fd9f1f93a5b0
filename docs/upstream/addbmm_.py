"""Tensor.addbmm_ changes the shape of self where self is broadcast

addmm_, baddbmm_ and addmv_ raise "Bad in-place call", and so does the fake of addbmm_; its
CPU kernel resizes self in place.

Who is hurt: whoever relies on an in-place op to refuse a result that does not fit; a program
that runs eagerly raises once it is compiled.

Fix: check the sizes of self as the other in-place ops of the family do.

Threads: https://github.com/pytorch/pytorch/pull/60647 (closed) would have made it raise, and
its reviewer prefers that; self is broadcast still.
"""

import sys

import torch

x = torch.ones(1, 3)
try:
    x.addbmm_(torch.ones(2, 3, 3), torch.ones(2, 3, 3))
except RuntimeError as error:
    print("the fault is not there:", error)
    sys.exit(0)
if x.shape == (1, 3):
    print("the fault is not there")
    sys.exit(0)
print("the fault is there: x had the shape [1, 3] and has", list(x.shape))
sys.exit(1)
