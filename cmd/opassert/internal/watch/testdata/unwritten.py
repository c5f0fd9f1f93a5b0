"""Calls ops of python_unwritten, in the folder that is the first argument, with tensors of
four sizes, as often as the second argument says; the last call alone has a number below
zero.
"""
import sys

import torch

sys.path.insert(0, sys.argv[1])
import python_unwritten

calls = int(sys.argv[2])
for i in range(calls):
    sizes = (2, 1 + i % 4)

    def tensor():
        return torch.full(sizes, -1.0 if i == calls - 1 else 1.0)

    for name in ("nothing", "clone", "second", "finds", "counts"):
        getattr(torch.ops.unwritten, name)(tensor(), tensor())
    for name in ("writes", "adds", "fills"):
        getattr(torch.ops.unwritten, name)(tensor())
    for name in ("many", "last"):
        getattr(torch.ops.unwritten, name)([tensor(), tensor()])
    torch.ops.unwritten.seldom(torch.ones(2, 3))
