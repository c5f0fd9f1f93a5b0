import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


self = torch.tensor([0, 1, 2], dtype=torch.int64)
try:
    result = torch.v(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if result.untyped_storage()._cdata != self.untyped_storage()._cdata:
    print("the fault is there: result is not a view: it does not share the storage of argument self")
    sys.exit(1)
print("the fault is not there")
