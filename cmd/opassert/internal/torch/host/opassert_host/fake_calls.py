"""The calls of fakes that a worker requests."""

import json

import torch
from torch.utils._pytree import tree_map_only

from .blame_own_fakes import mismatch
from .dynamic_fakes import under_symbols
from .fakes import answered, fake_mode, held
from .registrations import registered
from .shim import captured


def elsewhere(function, args, kwargs):
    """Returns the other devices of a fake's results, for tensors on a GPU, if the op has a kernel there."""
    name, schema = function.name(), function._schema
    if not registered.fake(name) or not torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, "CUDA") or any("Device" in str(a.type) for a in schema.arguments):
        return []
    mode = fake_mode()

    def moved(t):
        fake = mode.from_tensor(t, static_shapes=True)
        fake.fake_device = torch.device("cuda", 0)
        return fake

    try:
        args, kwargs = tree_map_only(torch.Tensor, moved, (args, kwargs))
        if not held([args, list(kwargs.values())]):
            return []
        with mode:
            values = function(*args, **kwargs)
    except Exception:
        return []  # it is for the CPU
    return sorted({t.device.type for t in held(values) if t is not None} - {"cuda"})


def fake(request, _):
    """Calls the fake of an op with the arguments of a request, and describes its results."""
    call = captured(request)
    if call is None:
        return "{}"
    function, args, kwargs = call
    mode = fake_mode()
    fakes = tree_map_only(torch.Tensor, lambda t: mode.from_tensor(t, static_shapes=True), (args, kwargs))
    answer = answered(function, *fakes, mode)
    if "results" in answer:
        answer |= under_symbols(function, args, kwargs, answer) | {"elsewhere": elsewhere(function, args, kwargs)}
        if why := mismatch(function, args, kwargs, answer):  # last, as the kernel may write its arguments
            answer = {"unknown": why}
    return json.dumps(answer)
