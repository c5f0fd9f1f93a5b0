import sys

import torch


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32).requires_grad_()
try:
    result = torch.ops.x.f.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if not result.requires_grad or result.is_leaf:
    print("the fault is there: result was made from tensors that require grad, and has no gradient")
    sys.exit(1)
print("the fault is not there")
