"""torch.optim.SGD(fused=True).step() overwrites parameters that autograd has saved,
and backward returns wrong gradients without an error

aten::_fused_sgd_ (_fused_adam_, _fused_adamw_ and _fused_adagrad_ too) writes the
tensors of the lists that it annotates with (a!), and no version is raised. With
fused=False the same program raises "one of the variables needed for gradient
computation has been modified by an inplace operation".

Who is hurt: training loops that step between a forward and its backward, such as GANs,
pipelines and overlapped optimizers: the error that would show the mistake never comes.

Fix: raise the version of each tensor of a written list, as foreach ops do.

Threads: no thread was found that names it; https://github.com/pytorch/pytorch/issues/14571
(closed) is the same of ops whose outputs have no gradient.
"""

import sys

import torch

p = torch.nn.Parameter(torch.ones(3))
loss = (p * p).sum()  # its formula saves p
p.grad = torch.ones(3)
torch.optim.SGD([p], lr=0.5, fused=True).step()
try:
    (gradient,) = torch.autograd.grad(loss, p)
except RuntimeError as error:
    print("the fault is not there:", error)
    sys.exit(0)
print("the fault is there: the gradient at [1, 1, 1] is", gradient.tolist(), "and not [2, 2, 2]")
sys.exit(1)
