# aten::f_: returned-self
#
# f_(Tensor(a!) self) -> Tensor(a!)
#
# aten::f_(...)
#
# Rule: a return marked (a!) is the very TensorImpl of the argument marked (a!).
# Here: result: what the run saw.
# So:   autograd attaches the history of the write to a tensor that was not written.
# Fix:  what to change.
#
# Seen with libtorch 2.6.0. The exit status is 1 while it is so, 0 where it is not, 2 where the
# call raises.

import sys

import torch


self = torch.tensor([complex(0.05882353, 0.029411765), complex(0.47058824, 0.23529412)], dtype=torch.complex64)
try:
    result = torch.f_(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if result is not self:
    print("the fault is there: result is not the argument that was written")
    sys.exit(1)
print("the fault is not there")
