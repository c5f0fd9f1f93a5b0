"""binary_cross_entropy, huber_loss and soft_margin_loss with out= write beside out

The kernels resize out to the shape of the input, write the losses there, and then
reduce: where out is a view of a larger storage, the elements behind it are overwritten,
though the result is one number and fits.

Who is hurt: whoever writes a loss into a slot of a tensor of losses.

Fix: compute the losses in a temporary tensor where a reduction follows.

Threads: no thread was found that names it.
"""

import sys

import torch

losses = torch.full((4,), -1.0)
slot = losses[:1].squeeze(0)
torch._C._nn.huber_loss(torch.ones(3), torch.zeros(3), 1, 1.0, out=slot)
if losses[1:].tolist() == [-1.0, -1.0, -1.0]:
    print("the fault is not there")
    sys.exit(0)
print("the fault is there: the other slots were -1, and are", losses[1:].tolist())
sys.exit(1)
