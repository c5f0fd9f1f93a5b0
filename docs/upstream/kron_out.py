"""torch.kron(out=) writes without raising the version of out: a backward that has saved it
returns wrong gradients without an error

Who is hurt: whoever reuses a buffer for out=. Other functions with out= raise its
version, and backward raises an error.

Fix: raise the version of out where the kernel writes a view that it makes unsafely.

Threads: no thread was found that names it; https://github.com/pytorch/pytorch/pull/51045
brought the unsafe view.
"""

import sys

import torch

x = torch.tensor([1.0, 1.0, 1.0, 1.0], requires_grad=True)
buffer = torch.tensor([3.0, 3.0, 3.0, 3.0])
y = (x * buffer).sum()  # its formula saves buffer
torch.kron(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0]), out=buffer)
try:
    (gradient,) = torch.autograd.grad(y, x)
except RuntimeError as error:
    print("the fault is not there:", error)
    sys.exit(0)
print("the fault is there: the gradient is", gradient.tolist(), "and not [3, 3, 3, 3]")
sys.exit(1)
