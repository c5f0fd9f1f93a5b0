"""What programs do with tensors and storages; nothing of it breaks a rule."""
import copy
import gc
import io
import multiprocessing
import os
import pickle
import sys
import threading
import warnings
import weakref

import torch
from torch.multiprocessing.reductions import StorageWeakRef

warnings.filterwarnings("ignore")


def train():
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(20):
        x = torch.randn(4, 8)
        loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def storage(t):
    return t.untyped_storage() if hasattr(t, "untyped_storage") else t.storage()


def save_and_load(model):
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    model.load_state_dict(torch.load(file))
    copy.deepcopy(model)
    pickle.loads(pickle.dumps(torch.ones(3)))


def weak_references():
    t = torch.ones(3)
    t.note = "kept"
    views = [t.view(3), t[1:]]
    ref, s = weakref.ref(t), weakref.ref(storage(t))
    again = storage(views[0])
    again.resize_(0)
    again.resize_(12)
    del t
    gc.collect()
    w = torch.ones(3, requires_grad=True)
    y, ref = w * w, weakref.ref(w)
    w.note = "preserved"
    del w
    gc.collect()
    assert ref() is None or y.grad_fn._saved_self.note == "preserved"
    assert y.grad_fn._saved_self.note == "preserved"


class Counted(torch.Tensor):
    deleted = 0
    kept = []

    def __del__(self):
        Counted.deleted += 1
        if not Counted.kept:
            Counted.kept.append(self)


def functions_of_cpp(extension):
    torch.ops.load_library(extension)
    x = torch.ones(3, requires_grad=True)
    x.note = "kept"
    y = torch.ops.live.square(x)
    ref = weakref.ref(x)
    del x
    gc.collect()
    y.sum().backward()
    saved = y.grad_fn
    for _ in range(3):
        z = torch.ops.live.square(torch.ones(2, requires_grad=True))
        z.sum().backward()
    assert ref() is None or ref().grad.tolist() == [2, 2, 2]
    del y, saved


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


def finalizers():
    for _ in range(3):
        t = torch.ones(2).as_subclass(Counted)
        t.cycle = t
        del t
        gc.collect()
    assert Counted.deleted >= 3
    Counted.kept.append(None)
    del Counted.kept[0]


class Wrapper(torch.Tensor):
    """Of these none is handed out by what PyTorch makes it for: a class of its own for each."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=inner.requires_grad)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        inner = [a.inner if isinstance(a, Wrapper) else a for a in args]
        out = func(*inner, **(kwargs or {}))
        return cls(out) if isinstance(out, torch.Tensor) else out


def new_classes():
    for n in range(60):
        cls = type("Wrapper%d" % (n % 3), (Wrapper,), {})
        torch.ones(3)  # and its address is free
        all = [cls(torch.ones(3)) for _ in range(3)]
        w = all[0]
        w.requires_grad_()
        y = w * w
        saved, note = weakref.ref(w), object()
        w.note = note
        del all, w
        gc.collect()
        assert saved() is None or saved().note is note
        y.sum().backward()
        plain = torch.ones(2).as_subclass(type("Plain", (torch.Tensor,), {}))
        plain.__class__ = type("Other", (torch.Tensor,), {})
        plain.view(2)
        del plain, y, cls


def swapped():
    if not hasattr(torch.utils, "swap_tensors"):
        return
    for a, b in ((torch.ones(2), torch.nn.Parameter(torch.ones(3))), (torch.ones(2), Wrapper(torch.ones(2)))):
        torch.utils.swap_tensors(a, b)
        module = torch.nn.Module()
        module.a, module.b = (torch.nn.Parameter(x.detach()) for x in (a, b))
        del a, b
        [p.sum() for p in module.parameters()]


def cycles():
    for cls in (torch.Tensor, Counted, torch.nn.Parameter):
        t = torch.ones(3).as_subclass(cls) if cls is not torch.nn.Parameter else cls(torch.ones(3))
        t.other = storage(t)
        t.loop = [t]
        y = (t * 1).clone()
        ref = weakref.ref(t)
        del t
        gc.collect()
        y.loop = y
    copy.copy(torch.nn.Parameter(torch.ones(2)))
    Counted.kept.clear()


def shared_bytes():
    buffer = bytearray(16)
    a, b = (torch.frombuffer(buffer, dtype=torch.float32) for _ in range(2))
    s, t = storage(a), storage(b)
    a.set_(b)
    a.data = torch.ones(2)
    a.data, b.data = b.data, a.data
    del s, a
    return storage(b), t


def addresses():
    """Numbers for the impls of storages that live, or have a weak reference, some at the addresses of freed ones."""
    if not hasattr(torch, "UntypedStorage") or not hasattr(torch._C, "_storage_Use_Count"):
        return
    for n in range(50):
        for make in (lambda: torch.UntypedStorage(8 + n % 3), lambda: torch.ones(3).untyped_storage(), lambda: storage(torch.ones(2)[1:])):
            s = make()
            assert torch._C._storage_Use_Count(s._cdata) == 1
            weak = StorageWeakRef(s)
            assert not weak.expired() and torch.UntypedStorage._new_with_weak_ptr(weak.cdata) is s
            del s
            assert weak.expired() and torch.UntypedStorage._new_with_weak_ptr(weak.cdata) is None
            del weak
        try:
            torch.UntypedStorage._expired("a number")
        except (RuntimeError, TypeError):
            pass


def child(queue):
    t = torch.ones(3)
    queue.put(float((t * 2).sum()))


def processes():
    pid = os.fork()
    if pid == 0:
        torch.ones(3) + 1
        os._exit(0)
    os.waitpid(pid, 0)
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        p = context.Process(target=child, args=(queue,))
        p.start()
        assert queue.get() == 6
        p.join()


def threads():
    def work():
        for _ in range(200):
            storage(torch.ones(2) + 1)

    all = [threading.Thread(target=work) for _ in range(4)]
    for t in all:
        t.start()
    for t in all:
        t.join()


if __name__ == "__main__":
    save_and_load(train())
    weak_references()
    finalizers()
    new_classes()
    swapped()
    cycles()
    functions_of_cpp(sys.argv[1])
    shared_bytes()
    addresses()
    x = torch.ones(3, requires_grad=True)
    Square.apply(x).sum().backward()
    x.register_hook(lambda g: g * 2)
    torch.jit.script(lambda_ := torch.nn.Linear(2, 2))(torch.ones(1, 2))
    threads()
    processes()
    print("done")
