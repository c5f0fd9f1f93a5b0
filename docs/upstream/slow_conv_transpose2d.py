"""slow_conv_transpose2d adds a dimension to the tensors that it is given

For an input without a batch the CPU kernel calls resize_ on the caller's tensor.

Who is hurt: callers of the op, among them the backends that route conv_transpose2d to it.

Fix: unsqueeze a view.

Threads: no thread was found that names it.
"""

import sys

import torch

x = torch.ones(3, 6, 6)
torch._C._nn.slow_conv_transpose2d(x, torch.ones(3, 4, 3, 3), [3, 3])
if x.shape == (3, 6, 6):
    print("the fault is not there")
    sys.exit(0)
print("the fault is there: x had the shape [3, 6, 6] and has", list(x.shape))
sys.exit(1)
