# x::f_: input-storage
#
# f_(Tensor(a!) self) -> Tensor(a!)
#
# x::f_(...)
#
# Rule: an argument's StorageImpl is the same object after the call.
# Here: argument self: what the run saw.
# So:   views of the argument, and whoever else holds its storage, no longer see what it holds.
# Fix:  what to change.
#
# Seen with libtorch 2.6.0. The exit status is 1 while it is so, 0 where it is not, 2 where the
# call raises.

import sys

import torch


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
held = self.untyped_storage()
try:
    result = torch.ops.x.f_.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if self.untyped_storage()._cdata != held._cdata:
    print("the fault is there: self has another storage than before")
    sys.exit(1)
print("the fault is not there")
