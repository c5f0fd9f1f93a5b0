# x::f: SIGSEGV
#
# f(Tensor self) -> Tensor
#
# x::f(self=float32[0])
#   in rule (x.py:3)
#
# Seen with libtorch 2.6.0. The exit status is 1 if the fault is there, 0 if it is not, 2 if the
# call raises.

import contextlib
import os
import resource
import signal
import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def tensors(values):
    """Returns the tensors among values, in order."""
    return [t for t in torch.utils._pytree.tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    return torch.utils._pytree.tree_map(lambda v: by(v) if isinstance(v, (torch.Tensor, torch.device)) else v, values)


def leaves(values):
    """Returns values with copies of their tensors, which require grad if possible."""
    return replaced(values, lambda t: t.detach().clone().requires_grad_(t.is_floating_point() or t.is_complex()) if isinstance(t, torch.Tensor) else t)


def backward(results):
    """Calls the formulas of results that require grad."""
    results = [t for t in tensors(results) if t.requires_grad]
    if results:
        torch.autograd.backward(results, [torch.ones_like(t) for t in results])


def batched(function, args, kwargs):
    """Returns in what torch.vmap of two calls differs from separate ones, with all tensors in batches and with each alone, or ""."""
    given = tensors([args, kwargs])
    for of, dim in [(given, 0), (given, -1), *(([t], 0) for t in given)]:

        def call(*values):
            torch.manual_seed(0)
            passed = dict(zip(map(id, of), values))
            new_args, new_kwargs = replaced((args, kwargs), lambda t: passed.get(id(t), t))
            return tuple(tensors([function(*new_args, **new_kwargs)]))

        sides = [[t.detach().clone() for t in of], [t.detach().flatten().roll(1).view(t.shape) for t in of]]
        try:
            separate = [call(*side) for side in sides]
        except Exception:
            continue  # the kernel accepts no other values
        try:
            together = torch.vmap(call, in_dims=dim, randomness="different")(*(torch.stack(pair, dim) for pair in zip(*sides)))
        except Exception as e:
            return f"at dimension {dim}: it raises {e}"
        for n, results in enumerate(separate):
            for one, both in zip(results, together):
                if both.shape != (2, *one.shape):
                    return f"at dimension {dim}: the sizes are {list(both.shape)}, for two calls that return {list(one.shape)}"
                if not torch.allclose(both[n].to(torch.complex128), one.to(torch.complex128), 1e-2, 1e-3, equal_nan=True):
                    return f"at dimension {dim}: result {n} has other elements"
    return ""


def by_rules(function, args, kwargs):
    """Calls an op as autograd and vmap do, whatever that raises."""
    for name, call in [("autograd", lambda: backward(function(*leaves(args), **leaves(kwargs)))), ("vmap", lambda: batched(function, args, kwargs))]:
        print("calling it by", name, flush=True)
        with contextlib.suppress(Exception):
            call()


self = torch.tensor([], dtype=torch.float32)
child = os.fork()
if child == 0:
    signal.alarm(60)
    resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
    torch.set_num_threads(1)
    args, kwargs = (lambda *args, **kwargs: (args, kwargs))(self)
    by_rules(torch.ops.x.f.default, args, kwargs)
    os._exit(0)
status = os.waitpid(child, 0)[1]
if os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGXCPU):
    print("the call does not end")
    sys.exit(2)
if os.WIFSIGNALED(status):
    print("the fault is there: the call ends its process with", signal.Signals(os.WTERMSIG(status)).name)
    sys.exit(1)
print("the fault is not there")
