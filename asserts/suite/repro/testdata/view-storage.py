# aten::v: view-storage
#
# v(Tensor(a) self) -> Tensor(a)
#
# aten::v(...)
#
# Rule: a return that is a view shares its base's StorageImpl.
# Here: result: what the run saw.
# So:   writes through the view never reach its base, nor its base's the view: silently wrong values and gradients.
# Fix:  what to change.
#
# Seen with libtorch 2.6.0. The exit status is 1 while it is so, 0 where it is not, 2 where the
# call raises.

import sys

import torch


self = torch.tensor([0, 1, 2], dtype=torch.int64)
try:
    result = torch.v(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if result.untyped_storage()._cdata != self.untyped_storage()._cdata:
    print("the fault is there: result is no view: it does not share the storage of self")
    sys.exit(1)
print("the fault is not there")
