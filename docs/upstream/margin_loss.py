"""multi_margin_loss and multilabel_margin_loss of an empty batch return what memory held before

The mean of no rows is nan, as of the other losses, or 0. The CPU kernels return early where the
batch is empty, and their result of one element was never written.

Who is hurt: whoever trains on a batch that a filter has emptied: the loss is any number, and is
logged, averaged or scaled as one.

Fix: fill the result before the return, with nan for a mean and 0 for a sum.

Threads: https://github.com/pytorch/pytorch/pull/46975 (closed) made the second take empty batches,
https://github.com/pytorch/pytorch/issues/50224 (closed) settles that the mean of none is nan.
"""

import sys

import torch
from torch.nn.functional import multi_margin_loss, multilabel_margin_loss

rows = torch.empty(0, 3)
calls = {multi_margin_loss: torch.empty(0, dtype=torch.long), multilabel_margin_loss: torch.empty(0, 3, dtype=torch.long)}
wrong = {}
for loss, target in calls.items():
    for _ in range(100):
        torch.full((), 7.0)  # is freed at once, and leaves its 7 behind
        value = loss(rows, target).item()
        if value == value and value != 0:
            wrong[loss.__name__] = value
if not wrong:
    print("the fault is not there")
    sys.exit(0)
print("the fault is there: the mean loss of no rows is", wrong)
sys.exit(1)
