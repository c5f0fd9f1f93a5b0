# x::two: output-alias
#
# two(Tensor self) -> (Tensor a, Tensor b)
#
# x::two(...)
#
# Rule: two returns share nothing unless the schema gives them a common alias set.
# Here: result b: what the run saw.
# So:   an in-place write to the one silently changes the other; compilers take them to be independent.
# Fix:  what to change.
#
# Seen with libtorch 2.6.0. The exit status is 1 while it is so, 0 where it is not, 2 where the
# call raises.

import sys
from math import nan

import torch


def share(a, b):
    """Reports whether two tensors have bytes in common."""
    s, t = a.untyped_storage(), b.untyped_storage()
    ends = s.data_ptr() + s.nbytes(), t.data_ptr() + t.nbytes()
    return s._cdata == t._cdata or max(s.data_ptr(), t.data_ptr()) < min(ends)


self = torch.full((2,), nan, dtype=torch.float16)
try:
    result = torch.ops.x.two.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if share(result[1], result[0]):
    print("the fault is there: result[1] shares memory with result[0]")
    sys.exit(1)
print("the fault is not there")
