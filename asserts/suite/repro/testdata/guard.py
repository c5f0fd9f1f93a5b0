import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch
import torch._dispatch.python
import torch._subclasses.fake_tensor


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    return torch.utils._pytree.tree_map(lambda v: by(v) if isinstance(v, (torch.Tensor, torch.device)) else v, values)


xs_0 = torch.tensor([0.05882353, 0.47058824, 0.88235295, 0.3529412, 0.7647059, 0.23529412], dtype=torch.float32).reshape((2, 3))
xs = [xs_0]
from_ = torch.tensor([0.3529412, 0.7647059], dtype=torch.float32)
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

sizes = ShapeEnv(duck_shape=False)
mode = torch._subclasses.fake_tensor.FakeTensorMode(shape_env=sizes)


def twin(t):
    """Returns a tensor like another, without contents, whose sizes are symbols."""
    if isinstance(t, torch.device):
        return t
    return mode.from_tensor(t, symbolic_context=StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * t.dim()))


args, kwargs = (lambda *args, **kwargs: (args, kwargs))(xs, from_)
twins_args, twins_kwargs = replaced((args, kwargs), twin)
others = {}
others.update(zip([s.node.expr for s in twin(xs[0]).shape], [2, 4]))
others.update(zip([s.node.expr for s in twin(from_).shape], [5]))
try:
    torch.ops.x.f.default(*args, **kwargs)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
try:
    with mode, torch._dispatch.python.enable_python_dispatcher():
        torch.ops.x.f.default(*twins_args, **twins_kwargs)
except Exception as e:
    print("the fault is there: the call with symbolic sizes raises:", e)
    sys.exit(1)
asked = [g.expr for g in sizes.guards if g.expr.subs(others) == False]
print("sizes:", others, "guards that do not hold:", asked)
if asked:
    print("the fault is there: the fake sets a guard that other sizes do not meet: compilers recompile for those")
    sys.exit(1)
print("the fault is not there")
