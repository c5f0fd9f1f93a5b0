"""Breaks one rule of preservation, by the means of a careless extension:
faults.py RULE tensor|storage [EXTENSION]"""
import ctypes
import os
import sys
import warnings

import torch
from torch import library as registering

warnings.filterwarnings("ignore")
rule, kind = sys.argv[1:3]
mark = 1 << 63
found = []


def words(address, n=64):
    return (ctypes.c_size_t * n).from_address(address)


def slot(o):
    """The impl's words and the number of the one that points at its object, perhaps
    with the owner's bit; the one before it may be the interpreter's tag."""
    memory = words(o._cdata)
    for i, word in enumerate(memory):
        if word & ~1 == id(o):
            return memory, i
    raise SystemExit("no slot found")


def decref(at):
    ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(at))


def shared():
    """An object whose impl others hold, too, and what asks them for it."""
    if kind == "storage":
        t = torch.ones(3)
        return t.untyped_storage(), t.untyped_storage
    w = torch.ones(3, requires_grad=True)
    y = w * w
    return w, lambda: y.grad_fn._saved_self


def double_release():
    o, ask = shared()
    at = id(o)
    del o
    decref(at)


def unmarked():
    """The impl's count says that it has no object to hold a reference to."""
    o, ask = shared()
    memory = words(o._cdata)
    if not memory[1] & mark:
        raise SystemExit("absent")
    memory[1] &= ~mark
    decref(id(o))
    del o


def second_object():
    o, ask = shared()
    memory, i = slot(o)
    kept, memory[i] = memory[i], 0
    marked = memory[1] & mark
    memory[1] &= ~marked
    again = ask()
    assert again is not o
    memory[i] = kept
    memory[1] |= marked


def stale_slot():
    o, ask = shared()
    other, _ = shared()
    if kind == "tensor":
        other = torch.ones(2)
    memory, i = slot(o)
    kept, dead = memory[i], id(other)
    del other, _
    memory[i] = dead
    found.append(ask())  # and is not released again
    memory[i] = kept


def dead_object():
    """As stale_slot, with one whose class nothing was handed out of."""
    o, ask = shared()
    memory, i = slot(o)
    kept = memory[i]
    if kind == "storage":
        other = torch.UntypedStorage(8)
    else:
        other = torch.Tensor._make_subclass(type("Class", (torch.Tensor,), {}), torch.ones(2))
    dead = id(other)
    del other
    memory[i] = dead
    found.append(ask())
    memory[i] = kept


def placed_object():
    """A second object holds the impl, and is put into its slot."""
    o, ask = shared()
    other = torch.UntypedStorage(12) if kind == "storage" else torch.Tensor._make_subclass(torch.Tensor, torch.ones(3))
    own = words(id(other), 6)
    (at,) = [n for n in range(6) if own[n] == other._cdata]
    memory, i = slot(o)
    own[at], memory[i] = o._cdata, id(other)
    found.append(o)
    found.append(ask())
    assert found[1] is other


def freed_cdata():
    """Each function that takes the address of a storage gets one that is freed; the one that crashes is the last."""
    takes = [getattr(torch._C, n) for n in ("_storage_Use_Count", "_has_Standard_Deleter") if hasattr(torch._C, n)]
    takes += [torch.UntypedStorage._expired, torch.UntypedStorage._new_with_weak_ptr]
    all = [torch.ones(1000 + n).untyped_storage() for n in range(len(takes))]
    numbers = [s._cdata for s in all]
    all.clear()
    for take, number in zip(takes, numbers):
        take(number)


def wrong_tag():
    o, ask = shared()
    memory, i = slot(o)
    p = torch.ones(1, requires_grad=True)
    others, j = slot(p)
    if not memory[i - 1] or memory[i - 1] != others[j - 1]:
        raise SystemExit("absent")
    other = (ctypes.c_size_t * 8)(*words(memory[i - 1], 8))  # an interpreter's copy
    kept, memory[i - 1] = memory[i - 1], ctypes.addressof(other)
    try:
        print(ask())
    except RuntimeError as e:
        print(e)
    memory[i - 1] = kept


def context():
    c10 = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so"))
    state = "_ZN3c104impl19HermeticPyObjectTLS%s"
    try:
        getattr(c10, state % "10init_stateEv")()
    except AttributeError:
        raise SystemExit("absent")
    return getattr(c10, state % "9set_stateEb")


def hermetic():
    """A hermetic context, as embedders of several interpreters enter it, is handed
    objects from outside that others still need."""
    enter = context()
    handed, ask = shared()
    more, ask_more = shared()
    enter(True)
    del handed
    del more
    enter(False)


def kernel():
    """Once several interpreters are there, PyTorch calls a kernel written in Python in
    a hermetic context if its arguments have no object of one. This one has objects
    from outside in its closure."""
    torch.ops.load_library(sys.argv[3])
    if not torch.ops.live.several_interpreters():
        raise SystemExit("absent")
    outside, keep = [], []
    for _ in range(2):
        o, ask = shared()
        outside.append(o)
        keep.append(ask)
    del o

    def forget(x):
        outside.clear()
        return x + 1

    library = registering.Library("live_python", "DEF")
    library.define("forget(Tensor x) -> Tensor")
    library.define("add(Tensor x) -> Tensor")
    library.impl("forget", forget, "CPU")
    library.impl("add", lambda x: x + 1, "CPU")
    script = "def call(x: Tensor) -> Tensor:\n  return torch.ops.live_python.%s(x + 1)\n"
    torch.jit.CompilationUnit(script % "add").call(torch.ones(3))  # breaks nothing
    torch.jit.CompilationUnit(script % "forget").call(torch.ones(3))


globals()[rule]()
print("went on")
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)  # what is broken is not taken down
