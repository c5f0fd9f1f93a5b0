"""median and nanmedian along a dimension that is expanded return numbers that are not there

The CPU kernel of median and nanmedian with a dim reads along it as if its stride were 1, and
makes the tensor contiguous before where the stride is more than 1 alone: that of an expanded
dimension is 0. The result is a number beside the tensor in its storage, or after the storage,
where any other object lies.

Who is hurt: whoever takes a median over what was broadcast: no error, another number.

Fix: in.stride(dim) != 1 in place of > 1, in median_with_indices_impl.

Threads: https://github.com/pytorch/pytorch/issues/46814 (closed) was the same on GPUs for
other strides, and says that the CPU is right; none was found of expanded tensors.
"""

import sys

import torch

numbers = torch.arange(100.0)
x = numbers[:1].expand(100)  # a hundred times 0
found = [f(x, 0).values.item() for f in (torch.median, torch.nanmedian)]
if found == [0, 0]:
    print("the fault is not there")
    sys.exit(0)
print("the fault is there: the median of a hundred zeros is", found[0], "and by nanmedian", found[1])
sys.exit(1)
