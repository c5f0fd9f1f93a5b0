import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def share(a, b):
    """Reports whether two tensors have bytes in common."""
    if a is b or a.untyped_storage()._cdata == b.untyped_storage()._cdata:
        return True
    s, t = ((torch._from_functional_tensor(x) if torch._is_functional_tensor(x) else x).untyped_storage() for x in (a, b))
    ends = s.data_ptr() + s.nbytes(), t.data_ptr() + t.nbytes()
    return s._cdata == t._cdata or max(s.data_ptr(), t.data_ptr()) < min(ends)


try:
    earlier = torch.ops.x.f.default(1)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
try:
    result = torch.ops.x.f.default(1)
except Exception as e:
    if "may not alias any inputs" in str(e):
        print("the fault is there: PyTorch refuses the result, which shares memory with another tensor of the call")
        sys.exit(1)
    print("the call raises:", e)
    sys.exit(2)
if share(result[1][2], earlier[1][2]):
    print("the fault is there: result b[2] shares memory with what the previous call returned")
    sys.exit(1)
print("the fault is not there")
