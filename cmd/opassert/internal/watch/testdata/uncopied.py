"""Calls kernels on a device whose copies to the CPU fail: $DEVICE, or openreg."""
import os
import sys
import torch

DEVICE = os.environ.get("DEVICE", "openreg")
if DEVICE == "openreg":
    import torch_openreg

torch.ops.load_library(sys.argv[1])
x, y = (torch.ones(3, device=DEVICE) for _ in range(2))


def copy(source, to, non_blocking=False):
    raise RuntimeError("the device is lost")


if DEVICE == "cuda":
    x[torch.full((1,), 3, device=DEVICE)]  # an assert fails there: each later copy raises
else:
    library = torch.library.Library("aten", "IMPL")
    library.impl("_copy_from", copy, "PrivateUse1")
for _ in range(2):
    torch.ops.whole.returns_view(x)
    torch.ops.broken.returns_view(y)  # OA007
try:
    x.cpu()
except RuntimeError as error:
    print(str(error).splitlines()[0])
