"""avg_pool3d(out=) writes beside an out that is not contiguous

The CPU kernel writes to out as if its elements lay side by side: other views of the
storage are overwritten, and most of out is not written at all. The same is true of
avg_pool3d_backward and adaptive_avg_pool3d_backward with grad_input=.

Who is hurt: whoever pools into a slice of a larger tensor.

Fix: write to a contiguous tensor and copy it, as avg_pool2d does.

Threads: https://github.com/pytorch/pytorch/issues/84577 (closed) reports the wrong result;
the program below still shows it.
"""

import sys

import torch

x = torch.ones(1, 1, 2, 2, 2)
padded = torch.zeros(1, 1, 2, 2, 3)
torch._C._nn.avg_pool3d(x, [1, 1, 1], out=padded[..., :2])
beside = padded[..., 2]
if not beside.any():
    print("the fault is not there")
    sys.exit(0)
print("the fault is there: the padding was zero, and is", beside.flatten().tolist())
sys.exit(1)
