"""Breaks one rule of preservation, by the means of a careless extension."""
import ctypes
import os
import sys
import warnings

import torch

warnings.filterwarnings("ignore")


def words(address, n=64):
    return (ctypes.c_size_t * n).from_address(address)


def slot(impl, at):
    """The word of an impl that points at its object, perhaps with the owner's bit."""
    memory = words(impl)
    for i, word in enumerate(memory):
        if word & ~1 == at:
            return memory, i
    raise SystemExit("no slot found")


def decref(at):
    ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(at))


def shared():
    """A tensor whose impl the graph holds, too."""
    w = torch.ones(3, requires_grad=True)
    return w, w * w


def double_release():
    w, y = shared()
    at = id(w)
    del w
    decref(at)


def second_object():
    w, y = shared()
    memory, i = slot(w._cdata, id(w))
    memory[i] = 0
    again = y.grad_fn._saved_self
    assert again is not w
    memory[i] = id(w)


def stale_slot():
    w, y = shared()
    other = torch.ones(2)
    dead = id(other)
    memory, i = slot(w._cdata, id(w))
    del other
    kept = memory[i]
    memory[i] = dead
    try:
        print(type(y.grad_fn._saved_self))
    finally:
        memory[i] = kept


def wrong_tag():
    w, y = shared()
    memory, i = slot(w._cdata, id(w))
    other = (ctypes.c_size_t * 8)(*words(memory[i - 1], 8))  # an interpreter's copy
    kept = memory[i - 1]
    memory[i - 1] = ctypes.addressof(other)
    try:
        print(y.grad_fn._saved_self)
    except RuntimeError as e:
        print(e)
    memory[i - 1] = kept


def hermetic():
    """A hermetic context, as embedders of several interpreters enter it, is handed
    an object from outside that the graph still needs."""
    c10 = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so"))
    state = "_ZN3c104impl19HermeticPyObjectTLS%s"
    getattr(c10, state % "10init_stateEv")()
    enter = getattr(c10, state % "9set_stateEb")
    handed, y = shared()
    more, z = shared()
    enter(True)
    del handed
    del more
    enter(False)


globals()[sys.argv[1]]()
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)  # what is broken is not taken down
