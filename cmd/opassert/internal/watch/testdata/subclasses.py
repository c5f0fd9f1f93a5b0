"""Subclasses and modes: some keep what an op's schema promises, some break it, some only look broken."""
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

try:
    from torch.utils._python_dispatch import return_and_correct_aliasing
except ImportError:
    return_and_correct_aliasing = None  # before 2.1
try:
    from torch.utils._pytree import tree_map
except ImportError:
    tree_map = None

kept = []


class Wrapper(torch.Tensor):
    """Wraps a tensor, as libraries do, and says nothing about views."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype, device=inner.device)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        unwrap = lambda t: t.inner if isinstance(t, Wrapper) else t
        out = func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {}))
        return cls.result(func, args, tree_map(lambda t: cls(t) if isinstance(t, torch.Tensor) else t, out))

    @classmethod
    def result(cls, func, args, out):
        return args[0] if func._schema.name.endswith("_") else out


class Aliasing(Wrapper):  # breaks: an out-of-place op returns its argument
    @classmethod
    def result(cls, func, args, out):
        return args[0] if "neg" in func._schema.name else super().result(func, args, out)


class Renewing(Wrapper):  # breaks: an in-place op returns another tensor
    @classmethod
    def result(cls, func, args, out):
        return out


class Reporting(Wrapper):  # breaks: it says that it reports views, and does not
    __opassert_reports_views__ = True


class Faithful(Reporting):  # keeps its promise: views share storage with their bases
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(
            cls, inner.size(), strides=inner.stride(), storage_offset=inner.storage_offset(), dtype=inner.dtype, device=inner.device)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        out = super().__torch_dispatch__(func, types, args, kwargs)
        return return_and_correct_aliasing(func, args, kwargs or {}, out) if return_and_correct_aliasing else out


class Logging(Wrapper):  # only looks broken: it keeps results
    @classmethod
    def result(cls, func, args, out):
        out = super().result(func, args, out)
        kept.append(out)
        return out


class Direct(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_subclass(cls, inner)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        guard = torch._C._DisableTorchDispatch()
        if hasattr(guard, "__enter__"):
            with guard:
                out = func(*args, **(kwargs or {}))
        else:
            out = func(*args, **(kwargs or {}))
            del guard
        return cls.result(func, args, out)

    @classmethod
    def result(cls, func, args, out):
        return out


class DirectLogging(Direct):  # only looks broken
    @classmethod
    def result(cls, func, args, out):
        kept.append(out)
        return out


class DirectAliasing(Direct):  # breaks
    @classmethod
    def result(cls, func, args, out):
        return args[0] if "neg" in func._schema.name else out


class Keeping(TorchDispatchMode):  # only looks broken
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        kept.append(out)
        return out


class Honest(TorchDispatchMode):  # breaks: it says that it keeps nothing
    __opassert_invalidates__ = ()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        kept.append(out)
        return out


class Short(TorchDispatchMode):  # breaks: a mode is held to sharing
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return args[0] if "neg" in func._schema.name else func(*args, **(kwargs or {}))


def run(cls):
    x = cls(torch.ones(3, 4))
    torch.mul(x, 2)
    torch.neg(x)
    x.view(12)
    x.add_(1)
    torch.stack([x, x])
    return x


def under(mode):
    x = torch.ones(3)
    with mode:
        return x.mul(2), x.neg(), x.view(3), x.add_(1)


def healthy():
    run(Wrapper)
    run(Logging)
    run(Direct)
    run(DirectLogging)
    under(Keeping())


def faithful():
    if return_and_correct_aliasing:
        run(Faithful)
    else:
        torch.ones(3)


def broken():
    torch.neg(Aliasing(torch.ones(3)))  # OA007 aten::neg
    Renewing(torch.ones(3)).add_(1)  # OA006 aten::add_.Tensor
    Reporting(torch.ones(3)).view(3)  # OA004 aten::view
    torch.neg(DirectAliasing(torch.ones(3)))  # OA007 aten::neg
    with Honest():
        torch.ones(3).neg()  # OA003 aten::neg, OA003 aten::ones
    with Short():
        torch.neg(torch.ones(3))  # OA007 aten::neg


{"healthy": healthy, "faithful": faithful, "broken": broken}[sys.argv[1]]()
