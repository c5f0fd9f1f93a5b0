"""Lost writes: a kernel writes to a copy of an argument that nothing reads."""

import json

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .fakes import held, passed
from .places import NOT_USERS, caller
from .registrations import is_written
from .shim import captured


class LostWrites(TorchDispatchMode):
    """Follows the copies of tensors through the ops that a kernel calls."""

    def __init__(self, given):
        self.of = {self.storage(t): name for name, tensors in given.items() for t in tensors}  # the argument's name
        self.given = set(self.of)
        self.written = {}  # where a copy was written that was not read since
        self.kept = []  # keeps the copies, so that their memory is not reused

    @staticmethod
    def storage(tensor):
        return tensor.untyped_storage()._cdata if tensor.layout == torch.strided else 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        results, read, written = function(*args, **(kwargs or {})), set(), set()
        for a, value in zip(function._schema.arguments, passed(function._schema, args, kwargs or {})):
            of = written if is_written(a) else read
            of |= {self.storage(t) for t in held(value) if t is not None}
        if not any(r.alias_info and not r.alias_info.is_write for r in function._schema.returns):  # else a view
            self.written = {s: place for s, place in self.written.items() if s not in read}
        self.written |= {s: caller(NOT_USERS) for s in written & self.of.keys() - self.given}
        sources = [self.of[s] for s in sorted(read & self.of.keys())]
        for tensor in held(results):
            if tensor is not None and sources and self.storage(tensor) not in self.of:
                self.kept.append(tensor)
                self.of[self.storage(tensor)] = sources[0]
        return results


def lost_writes_of(request, _):
    """Calls a kernel with the arguments of a request, and returns those of which it writes copies that nothing reads."""
    call = captured(request)
    if call is None:
        return "[]"
    function, args, kwargs = call
    given = zip(function._schema.arguments, passed(function._schema, args, kwargs))
    written = {a.name: held(value) for a, value in given if is_written(a)}
    lost = LostWrites({name: [t for t in tensors if t is not None] for name, tensors in written.items()})
    try:
        with lost:
            results = function.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), *args, **kwargs)
    except Exception:
        return "[]"
    for tensor in held([results]):
        lost.written.pop(tensor is not None and lost.storage(tensor), None)
    return json.dumps([{"argument": lost.of[s], "file": file, "line": line} for s, (file, line) in lost.written.items()])
