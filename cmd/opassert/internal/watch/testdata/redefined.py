"""Defines ops, calls them, destroys them, and defines others under their names."""
import torch
from torch._dispatch.python import enable_python_dispatcher

x = torch.ones(3)

KERNELS = [  # of one op after the other, by the keys that they are for
    {"CompositeImplicitAutograd": lambda x: x * 2},
    {"CPU": lambda x: x * 3},
    {"CompositeExplicitAutograd": lambda x: x * 4, "Autograd": lambda x: x + 4},
    {"CompositeExplicitAutograd": lambda x: x * 5},
    {"CompositeImplicitAutograd": lambda x: x * 6},
]

for kernels in KERNELS:
    library = torch.library.Library("redefined", "FRAGMENT")
    library.define("op(Tensor x) -> Tensor")
    for key, function in kernels.items():
        library.impl("op", function, key)
    op = torch.ops.redefined.op.default
    for _ in range(3):
        print(*kernels, op(x).tolist(), op(x.clone().requires_grad_()).tolist())
    with enable_python_dispatcher():
        print("the Python dispatcher:", op(x).tolist())
    library._destroy()
    delattr(torch.ops, "redefined")
    print("is left:", torch._C._dispatch_has_kernel("redefined::op"))
