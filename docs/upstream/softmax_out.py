"""softmax(out=) and log_softmax(out=) write beside an out that is not contiguous

The CPU kernels of _softmax, _log_softmax and their backward write to out as if its
elements lay side by side: other views of the storage are overwritten, and out holds
wrong numbers.

Who is hurt: whoever writes a softmax into a slice of a larger tensor.

Fix: write to a contiguous tensor and copy it, or iterate by the strides of out.

Threads: https://github.com/pytorch/pytorch/issues/75923 (open) reports the wrong numbers;
that memory beside out is overwritten is not said there.
"""

import sys

import torch

padded = torch.zeros(3, 3)
out = padded[:, :2]
torch.ops.aten._softmax.out(torch.ones(3, 2), 0, False, out=out)
beside = padded[:, 2]
if not beside.any():
    print("the fault is not there")
    sys.exit(0)
print("the fault is there: the padding was zero, and is", beside.tolist())
sys.exit(1)
