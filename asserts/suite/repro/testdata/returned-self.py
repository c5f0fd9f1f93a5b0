import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


self = torch.tensor([complex(0.05882353, 0.029411765), complex(0.47058824, 0.23529412)], dtype=torch.complex64)
try:
    result = torch.Tensor.f_(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if result is not self:
    print("the fault is there: result is not the argument that was written")
    sys.exit(1)
print("the fault is not there")
