import sys

import torch


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
storage_before = self.untyped_storage()
try:
    result = torch.ops.x.f_.default(self)
except Exception as e:
    print("the call raises:", e)
    if not (self.untyped_storage()._cdata != storage_before._cdata):
        sys.exit(2)
if self.untyped_storage()._cdata != storage_before._cdata:
    print("the fault is there: argument self has another storage than before")
    sys.exit(1)
print("the fault is not there")
