"""Operators with fakes and formulas, whose tests docs/measure/pytest-costs measures."""

import torch

FORMULAS = {  # name: the result, and the gradients of both arguments
    "blend": (lambda x, y: x * 0.5 + y * 0.5, lambda grad, x, y: (grad * 0.5, grad * 0.5)),
    "scaled": (lambda x, y: x * y * 3, lambda grad, x, y: (grad * y * 3, grad * x * 3)),
    "squares": (lambda x, y: x * x + y * y, lambda grad, x, y: (grad * x * 2, grad * y * 2)),
}


def register(name, formula, gradients):
    @torch.library.custom_op("measured::" + name, mutates_args=())
    def op(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return formula(x, y)

    op.register_fake(lambda x, y: torch.empty_like(x))
    op.register_autograd(
        lambda ctx, grad: gradients(grad, *ctx.saved_tensors), setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs)
    )


for name, (formula, gradients) in FORMULAS.items():
    register(name, formula, gradients)
