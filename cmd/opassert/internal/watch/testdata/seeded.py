"""Calls each operator of seeded.cpp that breaks its promise, on a line that says so."""
import sys
import torch

torch.ops.load_library(sys.argv[1])
bad, sound = torch.ops.bad, torch.ops.sound


def forward(x):
    bad.returns_input(x)  # OA007
    bad.shares_storage(x)  # OA007
    bad.copies_view(x)  # OA004
    bad.returns_other(x)  # OA006
    bad.same_twice(x)  # OA008
    bad.sharing_list(x)  # OA008
    bad.keeps_result(x)  # OA003
    bad.keeps_storage(x)  # OA005
    bad.swaps_storage(x)  # OA002
    bad.writes_input(x)  # OA009
    bad.forgets_version(x)  # OA010
    bad.composite_input(x, True)  # OA007
    bad.around(x)  # OA007
    bad.shortcut(x)  # OA007
    for op in (bad.throws_late, sound.throws):
        try:
            op(x)  # OA009
        except RuntimeError:
            pass
    sound.outer(x)  # OA007


def backward(x):
    y = sound.square(x).sum()
    y.backward()  # OA007


def healthy(x):
    for t in (x, x.detach()):
        sound.view(t)
        sound.fresh(t)
        sound.exp(t)
        sound.two(t)
        sound.split(t)
        bad.composite_input(t, False)
    sound.add(x.detach().clone())


healthy(torch.ones(3, 4, requires_grad=True))
for _ in range(3):
    forward(torch.ones(3, 4))
backward(torch.ones(3, 4, requires_grad=True))
