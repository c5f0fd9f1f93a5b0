"""batch_norm in training writes its running statistics without raising their versions:
a backward through an earlier call in evaluation returns wrong gradients without an error

aten::batch_norm and native_batch_norm write running_mean and running_var, which their
schemas do not annotate; _native_batch_norm_legit annotates them, and no version is
raised either.

Who is hurt: models that run one batch norm in evaluation and then in training before
the first one's backward, as distillation and contrastive losses do.

Fix: annotate the statistics, or raise their versions in the kernels.

Threads: https://github.com/pytorch/pytorch/issues/13402 and
https://github.com/pytorch/pytorch/issues/120622 (open) say that versions are not raised,
https://github.com/pytorch/pytorch/issues/73050 (open) that the schema does not say it.
"""

import sys

import torch
from torch.nn.functional import batch_norm


def gradient(train_between):
    x = torch.tensor([[1.0], [2.0], [4.0]], requires_grad=True)
    mean, var = torch.zeros(1), torch.ones(1)
    y = batch_norm(x, mean, var, training=False).sum()  # its formula saves the statistics
    if train_between:
        batch_norm(100 * x.detach(), mean, var, training=True, momentum=0.5)
    (result,) = torch.autograd.grad(y, x)
    return result.flatten().tolist()


right = gradient(train_between=False)
try:
    got = gradient(train_between=True)
except RuntimeError as error:
    print("the fault is not there:", error)
    sys.exit(0)
if got == right:
    print("the fault is not there")
    sys.exit(0)
print("the fault is there: the gradient is", got, "and not", right)
sys.exit(1)
