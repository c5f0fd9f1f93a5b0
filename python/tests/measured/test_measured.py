import pytest
import torch
from measured import FORMULAS

SHAPES = [(1000, 300), (64, 64, 64), (300000,), (8, 16, 40, 40), (512, 513)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("name", FORMULAS)
def test_values(name, contiguous, shape, dtype):
    x, y = torch.randn(2, *shape).to(dtype)
    if not contiguous:
        x, y = x.transpose(0, -1), y.transpose(0, -1)
    expected = FORMULAS[name][0](x, y)
    torch.testing.assert_close(getattr(torch.ops.measured, name)(x, y), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", FORMULAS)
def test_gradients(name, shape, dtype):
    x, y = (t.to(dtype).requires_grad_() for t in torch.randn(2, *shape))
    expected = torch.autograd.grad(FORMULAS[name][0](x, y).sum(), (x, y))
    torch.testing.assert_close(torch.autograd.grad(getattr(torch.ops.measured, name)(x, y).sum(), (x, y)), expected)


@pytest.mark.parametrize("n", range(1, 40))
@pytest.mark.parametrize("name", FORMULAS)
def test_gradcheck(name, n):
    x, y = torch.rand(2, 2, n, dtype=torch.float64)
    torch.autograd.gradcheck(getattr(torch.ops.measured, name), (x.requires_grad_(), y.requires_grad_()))


@pytest.mark.parametrize("name", FORMULAS)
def test_opcheck(name):
    torch.library.opcheck(getattr(torch.ops.measured, name), (torch.rand(3, 4), torch.rand(3, 4)))
