"""Tests that set modes, defaults and hooks of PyTorch, and call ops from its threads and processes."""

import concurrent.futures
import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading

import myops
import pytest
import torch
from myops import bad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint


class Functions(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


class Dispatched(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


class Labelled(torch.Tensor):
    pass


class Worse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        bad()
        return grad * 2


@pytest.fixture
def double():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.fixture
def on_meta():
    torch.set_default_device("meta")
    yield
    torch.set_default_device(None)


@pytest.mark.parametrize("n", range(8))
def test_function_mode(n):
    with Functions() as mode:
        torch.ops.myops.good(torch.ones(n + 1))
    assert any("good" in str(f) for f in mode.seen) and len(mode.seen) < 6


def test_function_mode_bad():
    with Functions():
        bad()


@pytest.mark.parametrize("n", range(8))
def test_dispatch_mode(n):
    with Dispatched() as mode:
        torch.ops.myops.good(torch.ones(n + 1)).sum()
    assert mode.seen == ["aten.ones.default", "myops.good.default", "aten.sum.default"]


def test_dispatch_mode_bad():
    with Dispatched():
        pass
    bad()


def test_dispatch_mode_leaves_bad():
    with pytest.raises(KeyError):
        with Dispatched():
            raise KeyError
    bad()


@pytest.mark.parametrize("n", range(8))
def test_double(double, n):
    assert torch.ones(n).dtype == torch.float64
    assert torch.ops.myops.good(torch.ones(n)).dtype == torch.float64


def test_double_bad(double):
    bad()


def test_on_meta(on_meta):
    assert torch.ones(3).device.type == "meta"
    assert torch.ops.myops.good(torch.ones(3)).device.type == "meta"


def test_after_meta():
    assert torch.ones(3).device.type == "cpu"


def test_device_is_meta_then_bad(on_meta):
    torch.ops.myops.scale(torch.ones(3, device="cpu"), 2.0)


def test_subclass():
    x = torch.ones(3).as_subclass(Labelled)
    assert isinstance(x + 1, Labelled) and isinstance(torch.ops.myops.good(x), torch.Tensor)


def test_parameter_is_kept():
    p = torch.nn.Parameter(torch.ones(3))
    assert torch.ops.myops.good(p.detach()).sum() == 6 and isinstance(copy.deepcopy(p), torch.nn.Parameter)


def test_pickled():
    assert torch.equal(pickle.loads(pickle.dumps(torch.ops.myops.good(torch.ones(3)))), torch.full((3,), 2.0))


@pytest.mark.parametrize("n", range(8))
def test_backward(n):
    x = torch.ones(n + 1, requires_grad=True)
    (torch.sin(x) * x).sum().backward()
    assert x.grad.shape == (n + 1,)


def test_backward_bad():
    x = torch.ones(3, requires_grad=True)
    Worse.apply(x).sum().backward()


def test_hook_bad():
    x = torch.ones(3, requires_grad=True)
    x.register_hook(lambda grad: bad())
    (x * 2).sum().backward()


def test_module_hook_bad():
    model = torch.nn.Linear(3, 2)
    model.register_forward_hook(lambda *_: bad())
    model(torch.ones(1, 3))


def test_checkpoint():
    x = torch.ones(3, requires_grad=True)
    checkpoint(lambda x: x.sin().cos(), x, use_reentrant=False).sum().backward()
    assert x.grad is not None


def test_checkpoint_bad():
    x = torch.ones(3, requires_grad=True)

    def part(x):
        bad()
        return x.sin()

    checkpoint(part, x, use_reentrant=True).sum().backward()


def test_func_bad():
    def f(x):
        bad()
        return x.sum()

    torch.func.grad(f)(torch.ones(3))


def test_scripted():
    @torch.jit.script
    def f(x):
        return x + 1

    assert f(torch.ones(3)).sum() == 6


def test_traced():
    f = torch.jit.trace(lambda x: torch.ops.myops.good(x), (torch.ones(3),))
    assert f(torch.ones(3)).sum() == 6


def test_fork_in_jit():
    assert torch.jit.wait(torch.jit.fork(torch.ones, 3)).sum() == 3


def test_pool():
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(lambda n: int(torch.ops.myops.good(torch.ones(n)).sum()), range(9))) == 72


def test_pool_bad():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pool.submit(bad).result()


def test_pool_is_never_asked_bad():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(bad)


def test_timer_bad():
    timer = threading.Timer(0.01, bad)
    timer.start()
    timer.join()


def test_thread_fails(recwarn):
    t = threading.Thread(target=lambda: 1 / 0)
    t.start()
    t.join()


def squares(n):
    return int(torch.ops.myops.good(torch.ones(n)).sum())


def wrong(n):
    bad()
    return n


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_processes(how):
    with multiprocessing.get_context(how).Pool(2) as pool:
        assert pool.map(squares, range(4)) == [0, 2, 4, 6]


def test_processes_fork_bad():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(wrong, [1]) == [1]


def test_processes_spawn_bad():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(wrong, [1]) == [1]


def test_executor_bad():
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("forkserver")) as pool:
        assert pool.submit(wrong, 1).result() == 1


def test_raises_any_bad():
    with pytest.raises(Exception):
        bad()
        torch.ones(2) @ torch.ones(3)


def test_forked_child_bad():
    child = os.fork()
    if child == 0:
        bad()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def test_shell_bad():
    line = "%s -c 'import myops; myops.bad()'" % sys.executable
    assert subprocess.run(line, shell=True, cwd=os.path.dirname(os.path.abspath(__file__))).returncode == 0


def test_replaced(monkeypatch):
    monkeypatch.setattr(torch, "add", lambda *args: 7)
    monkeypatch.setattr(torch.Tensor, "sum", lambda self: 8)
    assert torch.add(1, 2) == 7 and torch.ops.myops.good(torch.ones(3)).sum() == 8


def test_replaced_bad(monkeypatch):
    monkeypatch.setattr(torch, "ones", lambda *args, real=torch.ones: real(2))
    monkeypatch.setattr(torch.Tensor, "__repr__", lambda self: 1 / 0)
    bad()


def test_no_stdout_bad(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    bad()


def test_generator_is_left():
    state = torch.get_rng_state()
    torch.ops.myops.good(torch.ones(3))
    assert torch.equal(state, torch.get_rng_state())


def test_saved_pages(tmp_path):
    torch.save({"x": torch.ops.myops.good(torch.ones(3))}, tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt", mmap=True)["x"].sum() == 6


def test_profiled():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        torch.ops.myops.good(torch.ones(3))
    assert "myops::good" in {e.key for e in profile.key_averages()}


def test_autocast():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
        assert torch.ops.myops.good(torch.ones(2)).dtype == torch.float32


def test_deterministic_bad():
    torch.use_deterministic_algorithms(True)
    try:
        bad()
    finally:
        torch.use_deterministic_algorithms(False)
