import contextlib
import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def tensors(values):
    """Returns the tensors among values, in order."""
    return [t for t in torch.utils._pytree.tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    return torch.utils._pytree.tree_map(lambda v: by(v) if isinstance(v, (torch.Tensor, torch.device)) else v, values)


def shared(args, results):
    """Returns for each result the arguments and results with the same storage."""
    return [[r.untyped_storage()._cdata == t.untyped_storage()._cdata for t in tensors([args, results])] for r in tensors(results)]


def planned(results):
    """Returns the properties that a compiler uses: sizes, strides and dtypes."""
    return [(tuple(r.size()), r.stride(), r.dtype) for r in tensors(results)]


def numbers(results):
    """Returns the numbers among results, in order, and None for other values and unknown numbers."""
    values = torch.utils._pytree.tree_flatten(results)[0]
    return [v if isinstance(v, (int, float, complex)) else None for v in values]


def differences(here, there, tolerance):
    """Returns the differences between a call on a device and the one on the CPU, in values only with a tolerance."""
    (args, results), (cpu_args, cpu_results) = here, there
    plans = planned(results), planned(cpu_results)
    said = [] if plans[0] == plans[1] else [f"{plans[0]}, on the CPU {plans[1]}"]
    if shared(args, results) != shared(cpu_args, cpu_results):
        said.append("other storages are shared than on the CPU")
    if tolerance is None or said:
        return said
    for x, y in zip(tensors([args, results]), tensors([cpu_args, cpu_results])):
        x, y = x.detach().cpu(), y.detach()
        unlike = ~torch.isclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)
        if unlike.any():
            said.append(f"{int(unlike.sum())} elements, first {x[unlike][0].item()}, on the CPU {y[unlike][0].item()}")
    if numbers(results) != numbers(cpu_results):
        said.append(f"{numbers(results)}, on the CPU {numbers(cpu_results)}")
    return said


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
twins = {}


def twin(t):
    if isinstance(t, torch.device):
        return torch.device("cpu")
    storage = t.untyped_storage()
    elements = storage.nbytes() // t.element_size()
    base = twins.setdefault(storage._cdata, t.detach().as_strided((elements,), (1,), 0).to("cpu"))
    return twins.setdefault(id(t), base.as_strided(t.size(), t.stride(), t.storage_offset()))


mode = contextlib.nullcontext()
args, kwargs = (lambda *args, **kwargs: (args, kwargs))(self)
twins_args, twins_kwargs = replaced((args, kwargs), twin)
try:
    result = torch.ops.x.f.default(*args, **kwargs)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
try:
    with mode:
        plan = torch.ops.x.f.default(*twins_args, **twins_kwargs)
except Exception as e:
    print("the fault is there: the call with cpu tensors raises:", e)
    sys.exit(1)
differ = differences(([args, kwargs], result), ([twins_args, twins_kwargs], plan), 0.001)
print(*differ, sep="\n")
if differ:
    print("the fault is there: the results or writes of the call on the CPU differ from those on the device")
    sys.exit(1)
print("the fault is not there")
