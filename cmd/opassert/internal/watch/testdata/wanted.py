"""Registers kernels for dispatch keys that a watcher may hold, and prints where they are called."""
import sys
import threading

import torch
from torch._C import DispatchKeySet, _ForceDispatchKeyGuard, _IncludeDispatchKeyGuard

key = sys.argv[1]
number = torch._C._dispatch_key_parse(key)
calls = []


def counted(what):
    calls.clear()
    try:
        result = what()
    except Exception as e:
        result = type(e).__name__
    return result.tolist() if isinstance(result, torch.Tensor) else result, list(calls)


def included():
    return torch._C._dispatch_tls_local_include_set()


def excluded():
    return torch._C._dispatch_tls_local_exclude_set()


def fallback(op, *args, **kwargs):
    calls.append(op._schema.name)
    with _ForceDispatchKeyGuard(included(), excluded() | DispatchKeySet(number)):
        return op(*args, **kwargs)


def add(a, b):
    calls.append("add")
    return a - b


def inside(what):
    with _IncludeDispatchKeyGuard(number):
        return what()


def forced(what):
    with _ForceDispatchKeyGuard(included() | DispatchKeySet(number), excluded()):
        return what()


x = torch.ones(2)
plus = lambda: torch.ops.aten.add.Tensor(x, torch.ones(2))


class Thread(threading.Thread):
    """Is there before anything is registered, and does what it is asked for."""

    def __init__(self):
        super().__init__(daemon=True)
        self.todo, self.done = threading.Semaphore(0), threading.Semaphore(0)
        self.start()

    def run(self):
        x + 1
        while True:
            self.todo.acquire()
            self.result = counted(self.what)
            self.done.release()

    def ask(self, what):
        self.what = what
        self.todo.release()
        self.done.acquire()
        return self.result


busy = True


def work():
    while busy:
        torch.ones(3).add_(1).sum().item()


threads = [Thread() for _ in range(8)]
worker = threading.Thread(target=work)
worker.start()
was = torch._C._dispatch_tls_local_include_set()


def everywhere(say):
    thread = threads.pop()
    for where, ask in (("here", counted), ("in an old thread", thread.ask), ("in a new thread", lambda what: Thread().ask(what))):
        print(say, where, ask(plus), ask(lambda: inside(plus)), ask(plus), ask(lambda: forced(plus)), ask(plus), flush=True)


def grad():
    a = torch.ones(2, requires_grad=True)
    (a * a).sum().backward()
    return a.grad


everywhere("nothing")
for again in range(2):
    library = torch.library.Library("_", "IMPL")
    library.fallback(fallback, key)
    everywhere("fallback")
    with _ForceDispatchKeyGuard(was, excluded()):
        print("set of before", counted(plus))
    print("backward", counted(grad), counted(lambda: inside(grad))[0])
    try:
        torch.library.Library("_", "IMPL").fallback(fallback, key)
    except RuntimeError as e:
        print(str(e).split(" Original")[0].split(key)[0])
    library._destroy() if hasattr(library, "_destroy") else None
    del library
    everywhere("without fallback")
aten = torch.library.Library("aten", "IMPL")
aten.impl("add.Tensor", add, key)
everywhere("kernel")
aten._destroy() if hasattr(aten, "_destroy") else None
for library in sys.argv[2:]:
    torch.ops.load_library(library)  # registers a fallback as it is loaded
    everywhere("C++")
busy = False
worker.join()
print("failed 0")
