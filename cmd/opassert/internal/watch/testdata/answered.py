"""Calls that Python classes answer in place of a kernel: each comment says what is found, and whose method answers."""
import functools
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_map


class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(
            cls, inner.size(), strides=inner.stride(), storage_offset=inner.storage_offset(), dtype=inner.dtype, device=inner.device)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return cls.around(func, args, kwargs)

    @classmethod
    def around(cls, func, args, kwargs):
        unwrap = lambda t: t.inner if isinstance(t, cls) else t
        out = func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {}))
        return tree_map(lambda t: cls(t) if isinstance(t, torch.Tensor) else t, out)


class Heir(Wrapper):
    """Has the method from its base."""


class Correct(Wrapper):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return return_and_correct_aliasing(func, args, kwargs or {}, cls.around(func, args, kwargs))


class Viewing(Wrapper):
    __opassert_reports_views__ = True


class Sharing(Correct):
    """Says nothing of its views: they share storage, except some."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func.overloadpacket.__name__ == "view":
            return super().__torch_dispatch__(func, types, args, kwargs)
        out = cls.around(func, args, kwargs)
        return out.inner if func.overloadpacket.__name__ == "select" else out


class Declining(Wrapper):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Copying(torch.Tensor):
    """Is a plain tensor, and answers with copies."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_subclass(cls, inner)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        with torch._C._DisableTorchDispatch():
            return func(*args, **(kwargs or {})).clone()


def traced(method):
    @functools.wraps(method)
    def call(*args, **kwargs):
        return method(*args, **kwargs)

    return call


class Decorated(Wrapper):
    @classmethod
    @traced
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return cls.around(func, args, kwargs)


class Functions(torch.Tensor):
    """Answers above the dispatcher: its ops are those of plain tensors."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            plain = tree_map(lambda t: t.as_subclass(torch.Tensor) if isinstance(t, cls) else t, args)
            return func(*plain, **(kwargs or {})).clone().as_subclass(cls)


class Passing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Renewing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return tree_map(torch.clone, func(*args, **(kwargs or {})))


def ones(cls):
    return cls(torch.ones(2, 3))


def broken():
    ones(Wrapper).add_(1)  # OA006 aten::add_ Wrapper
    ones(Heir).copy_(torch.zeros(2, 3))  # OA006 aten::copy_ Heir Wrapper
    torch.add(ones(Wrapper), 1, out=ones(Wrapper))  # OA006 aten::add Wrapper
    ones(Wrapper).t_()  # OA006 aten::t_ Wrapper
    ones(Decorated).zero_()  # OA006 aten::zero_ Decorated
    torch.add(torch.ones(2, 3), ones(Wrapper), out=torch.ones(2, 3))  # OA006 aten::add Wrapper
    ones(Viewing).view(6)  # OA004 aten::view Viewing Wrapper
    ones(Viewing).split(1)  # OA004 aten::split Viewing Wrapper, OA004 aten::split Viewing Wrapper
    ones(Copying).t()  # OA004 aten::t Copying
    ones(Copying).mul_(2)  # OA006 aten::mul_ Copying
    ones(Sharing).view(6), ones(Sharing).t()  # OA004 aten::t Sharing
    Correct(ones(Wrapper)).add_(1)  # OA006 aten::add_ Wrapper
    Heir(ones(Viewing)).add_(1)  # OA006 aten::add_ Heir Wrapper, OA006 aten::add_ Viewing Wrapper
    ones(Heir).add_(ones(Decorated))  # OA006 aten::add_ Decorated, OA006 aten::add_ Heir Wrapper
    ones(Declining).add_(ones(Wrapper))  # OA006 aten::add_ Wrapper
    ones(Wrapper).add_(ones(Declining))  # OA006 aten::add_ Wrapper
    with Passing():
        ones(Wrapper).add_(1)  # OA006 aten::add_ Wrapper
        with Passing():
            ones(Wrapper).sub_(1)  # OA006 aten::sub_ Wrapper
    x, y = torch.ones(3), ones(Correct)
    with Renewing():
        x.add_(1)  # OA006 aten::add_ Renewing
        y.add_(1)  # OA006 aten::add_ Renewing
        with Passing():
            x.sub_(1)  # OA006 aten::sub_ Renewing


def noted():
    ones(Sharing).view(6), ones(Sharing).split(1)
    ones(Sharing).detach()  # OA004 aten::detach Sharing
    ones(Sharing).select(0, 1)  # OA004 aten::select Sharing


def healthy():
    ones(Wrapper).t(), ones(Wrapper).view(6), ones(Sharing).t(), ones(Sharing).detach()
    x = ones(Correct)
    x.add_(1), x.copy_(torch.zeros(2, 3)), x.t(), x.view(6), x.split(1), torch.add(x, 1, out=ones(Correct)), x.detach(), x.zero_()
    Correct(ones(Correct)).add_(1)
    y = torch.ones(3).as_subclass(Functions)
    y.add_(1), y.view(3), torch.neg(y)
    with Passing():
        ones(Correct).add_(1)
        torch.ones(3).add_(1).view(3)


{"broken": broken, "noted": noted, "healthy": healthy}[sys.argv[1]]()
