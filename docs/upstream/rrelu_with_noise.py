"""rrelu_with_noise writes its noise without raising its version: two calls with one noise
return wrong gradients without an error

The schema annotates noise with (b!), and the kernel writes it through its pointer.

Who is hurt: callers that keep one buffer of noise for several calls.

Fix: raise the version of noise where the kernel fills it.

Threads: https://github.com/pytorch/pytorch/issues/82434 and
https://github.com/pytorch/pytorch/issues/136784 (closed) led to the annotation, by
https://github.com/pytorch/pytorch/pull/138503; the version is not part of them.
"""

import sys

import torch

torch.manual_seed(1)
x = torch.tensor([-1.0, -1.0], requires_grad=True)
noise = torch.empty(2)
y = torch.ops.aten.rrelu_with_noise(x, noise, 0.1, 0.9, True)  # y is x * noise where x < 0
slopes = noise.clone()
torch.ops.aten.rrelu_with_noise(x.detach(), noise, 0.1, 0.9, True)
try:
    (gradient,) = torch.autograd.grad(y.sum(), x)
except RuntimeError as error:
    print("the fault is not there:", error)
    sys.exit(0)
if torch.equal(gradient, slopes):
    print("the fault is not there")
    sys.exit(0)
print("the fault is there: the gradient is", gradient.tolist(), "and not", slopes.tolist())
sys.exit(1)
