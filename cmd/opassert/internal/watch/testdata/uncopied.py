"""Calls kernels on a device whose copies to the CPU fail."""
import sys
import torch
import torch_openreg

torch.ops.load_library(sys.argv[1])
x, y = torch.ones(3, device="openreg"), torch.ones(3, device="openreg")


def copy(source, to, non_blocking=False):
    raise RuntimeError("the device is lost")


library = torch.library.Library("aten", "IMPL")
library.impl("_copy_from", copy, "PrivateUse1")
for _ in range(2):
    torch.ops.whole.returns_view(x)
    torch.ops.broken.returns_view(y)  # OA007
try:
    x.cpu()
except RuntimeError as error:
    print(str(error).splitlines()[0])
