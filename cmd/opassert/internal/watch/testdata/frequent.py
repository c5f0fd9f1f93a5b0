"""Calls the faulty kernels of frequent.cpp: frequent.py LIBRARY."""
import sys

import torch

torch.ops.load_library(sys.argv[1])
for make in (torch.empty, torch.empty_strided):
    x = make((3, 4)) if make is torch.empty else make((3, 4), (4, 1))
    torch.tanh(x)  # OA007
    torch.sigmoid(x)  # OA007
    torch.sqrt(x)  # OA003
    torch.rsqrt(x)  # OA005
    x.view(12)  # OA004
    x.fill_(2.0)  # OA006
    torch.maximum(torch.empty(3), torch.empty(3))  # OA002
    torch.exp(x)
    try:
        torch.log(x)
    except RuntimeError:
        pass
