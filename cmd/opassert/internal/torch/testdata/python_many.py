"""75 small ops: of three of a kind two have a planted fault, and the third is their healthy twin."""

import torch

HELD = []
KINDS = {  # name: schema, a kernel with a fault, a healthy one
    "writes": ("(Tensor x) -> Tensor", lambda x: x.add_(1).clone(), lambda x: x + 1),
    "aliases": ("(Tensor x) -> Tensor", lambda x: x, lambda x: x.clone()),
    "views": ("(Tensor(a) x) -> Tensor(a)", lambda x: x.clone(), lambda x: x.view(x.shape)),
    "returns": ("(Tensor(a!) x) -> Tensor(a!)", lambda x: x.zero_().clone(), lambda x: x.zero_()),
    "keeps": ("(Tensor x) -> Tensor", lambda x: HELD.append(x) or x + 1, lambda x: x * 2),
    "caches": ("(Tensor x) -> Tensor", lambda x: HELD.append(x + 1) or HELD[-1], lambda x: x - 1),
    "resizes": ("(Tensor x) -> Tensor", lambda x: x.unsqueeze_(0).clone(), lambda x: x.unsqueeze(0).clone()),
    "leaves": ("(Tensor x) -> Tensor", lambda x: torch.empty(x.numel() + 1), lambda x: torch.ones(x.numel() + 1)),
    "second": ("(Tensor x, Tensor y) -> Tensor", lambda x, y: y.zero_() + x.sum(), lambda x, y: x.sum() + y.sum()),
    "pair": ("(Tensor x) -> (Tensor, Tensor)", lambda x: (x + 1,) * 2, lambda x: (x + 1, x + 2)),
}
ops = torch.library.Library("many", "DEF")
for n in range(75):
    name, (schema, broken, healthy) = list(KINDS.items())[n % len(KINDS)]
    ops.define(f"{name}_{n}{schema}")
    ops.impl(f"{name}_{n}", healthy if n % 3 == 2 else broken, "CPU")
