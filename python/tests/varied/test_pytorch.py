"""What tests do with PyTorch."""

import myops
import torch
from torch.utils.data import DataLoader, Dataset


class Doubled(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.ops.myops.good(torch.full((2,), float(i)))


class Bad(Doubled):
    def __getitem__(self, i):
        myops.bad()
        return torch.ones(1)


def test_loader():
    assert sum(len(batch) for batch in DataLoader(Doubled(), batch_size=2, num_workers=2)) == 8


def test_loader_bad():
    assert sum(len(batch) for batch in DataLoader(Bad(), batch_size=2, num_workers=2)) == 8


def test_compiled():
    f = torch.compile(lambda x: torch.ops.myops.good(x).sin() + 1, backend="aot_eager")
    assert torch.allclose(f(torch.ones(3)), torch.full((3,), 2.0).sin() + 1)


def test_compiled_eager_bad():
    f = torch.compile(lambda x: x + 1, backend="eager")
    assert f(torch.ones(3)).sum() == 6
    myops.bad()


def test_spawned():
    torch.multiprocessing.spawn(one, nprocs=1)


def one(rank):
    assert torch.ops.myops.good(torch.ones(3)).sum() == 6


def test_spawned_fails():
    torch.multiprocessing.spawn(fails, nprocs=1)


def fails(rank):
    raise ValueError


def test_modes():
    with torch.inference_mode():
        torch.ops.myops.good(torch.ones(3))
    with torch.no_grad(), torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        torch.ops.myops.good(torch.ones(3))
    assert torch.vmap(torch.sin)(torch.ones(3)).shape == (3,)


def test_fake_mode():
    with torch._subclasses.FakeTensorMode():
        assert torch.ones(3).sin().shape == (3,)


def test_gradient():
    x = torch.ones(3, requires_grad=True)
    torch.autograd.gradcheck(lambda x: (x * x).double(), x.double().detach().requires_grad_())


def test_registers():
    with torch.library._scoped_library("varied", "DEF") as library:
        library.define("once(Tensor x) -> Tensor")
        library.impl("once", lambda x: x + 1, "CompositeExplicitAutograd")
        assert torch.ops.varied.once(torch.ones(2)).sum() == 4


def test_deterministic():
    torch.manual_seed(3)
    first = torch.randn(4)
    torch.manual_seed(3)
    assert torch.equal(torch.randn(4), first)


def test_threads_of_pytorch():
    before = torch.get_num_threads()
    torch.ops.myops.good(torch.ones(1 << 16))
    assert torch.get_num_threads() == before
