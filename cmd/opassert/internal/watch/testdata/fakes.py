"""Calls ops of python_fakes, in the folder that is the first argument, of which some have
fakes that are not what their kernels are, and ops of its own whose fakes do harm.

With "compiles" it calls an op as a compiler does, with "leaves" it ends without a word.
"""
import math
import os
import random
import sys
import warnings

import torch

sys.path.insert(0, sys.argv[1])
import python_fakes

harmful = torch.library.Library("harmful", "DEF")


def harm(name, fake):
    harmful.define(f"{name}(Tensor x, float scale, Scalar times, str mode, int[2] size, ScalarType dtype, Device device, MemoryFormat? format=None) -> Tensor")
    harmful.impl(name, lambda x, *args, **kwargs: x.clone(), "CPU")
    torch.library.register_fake(f"harmful::{name}", fake, lib=harmful)


def ends(x, *args):
    os._exit(3)


def talks(x, *args):
    print("a fake")
    warnings.warn("a fake")
    random.random()
    torch.manual_seed(1)
    return torch.empty_like(x)


def takes(x, scale, times, mode, size, dtype, device, format=None):
    assert scale in (1.5, -math.inf) and type(times) is float and (mode, list(size), dtype, device, format) == ("a\n\"b\\", [2, 3], torch.float16, torch.device("cpu"), torch.channels_last)
    return torch.empty_like(x)


for name, fake in {"ends": ends, "talks": talks, "takes": takes}.items():
    harm(name, fake)


def call(op, x):
    types = {"Tensor": x.clone(), "Optional[Tensor]": torch.ones(3), "bool": True, "int": 1, "float": 2.0}
    args = [x.clone()] + [types[str(a.type)] for a in op._schema.arguments[1:]]
    try:
        op(*args)
    except (RuntimeError, IndexError, ValueError):
        pass  # of kernels that do not take a scalar, what is empty, or what is odd


x = torch.arange(6.0).reshape(2, 3)
torch.ops.harmful.takes(x, -math.inf, 2.0, "a\n\"b\\", [2, 3], torch.float16, torch.device("cpu"), torch.channels_last)
library = {name: getattr(torch.ops, name) for name in ("fakes", "right")}
for name in sorted(torch._C._dispatch_get_all_op_names()):
    space, _, op = name.partition("::")
    if space in library:
        for t in (x, x.t(), torch.ones(2, dtype=torch.int64), torch.ones(()), torch.empty(0, 3)):
            call(getattr(library[space], op).default, t)
        both = torch.zeros(2)
        if name == "fakes::custom_writes":
            library[space].custom_writes(both, both)
for name in ("ends", "talks", "takes"):
    getattr(torch.ops.harmful, name)(x, 1.5, 2.0, "a\n\"b\\", [2, 3], torch.float16, torch.device("cpu"), torch.channels_last)
if "compiles" in sys.argv:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        torch.ops.right.clone(mode.from_tensor(x))
torch.manual_seed(0)
random.seed(0)
print(torch.rand(1), random.random(), flush=True)
if "leaves" in sys.argv:
    os._exit(0)
