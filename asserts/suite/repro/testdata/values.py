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


x = torch.quantize_per_tensor(torch.tensor([0.05882353, 0.47058824], dtype=torch.float32), 0.1, 64, torch.quint8)
d_1 = torch.tensor([0.3529412], dtype=torch.float32)
d = {"a": d_1}
made_0_0 = torch.tensor([0.64705884], dtype=torch.float32)
made_1_first = torch.classes.x.Queue(3)
torch.ops.x.push_.default(made_1_first, True)
made_2_0_first = torch.classes.x.Queue(3)
made_2_0_first.pop(2)
made_2_first = made_2_0_first
made_2_first.push(True)
made = [torch.ops.x.g.default(made_0_0), made_1_first, made_2_first, torch.ops.x.Queue.top(torch.classes.x.Set(3)), torch.ops.x.g.one()]
try:
    result = torch.ops.x.f.default(x, d, [1, -2], "a\"b", torch.device("cpu"), torch.Generator().manual_seed(7), torch.tensor([0.05882353, 0.47058824], dtype=torch.float32).untyped_storage(), made)
except Exception as e:
    if "may not alias any inputs" in str(e):
        print("the fault is there: PyTorch refuses the result, which shares memory with another tensor of the call")
        sys.exit(1)
    print("the call raises:", e)
    sys.exit(2)
if share(result, x):
    print("the fault is there: the memory of result is not its own")
    sys.exit(1)
print("the fault is not there")
