"""torch.cov overwrites an input of one observation

With aweights, the CPU kernel subtracts the mean in place from a view of the input where
it has no dimensions, or one of size 1: the caller's tensor is changed. 2.6.0 does not.

Who is hurt: whoever calls torch.cov in a loop over samples of different sizes.

Fix: subtract out of place, or clone where the input is viewed.

Threads: no thread was found that names it.
"""

import sys

import torch

x = torch.tensor(5.0)
torch.cov(x, aweights=torch.tensor(1.0))
if x.item() == 5.0 and x._version == 0:
    print("the fault is not there")
    sys.exit(0)
print("the fault is there: x was 5 and is", x.item())
sys.exit(1)
