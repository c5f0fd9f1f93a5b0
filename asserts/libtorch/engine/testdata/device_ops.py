"""Kernels for openreg, PyTorch's example of a device that a package brings."""
import os
import torch
import torch_openreg

torch.ops.load_library(os.environ["DEVICE_OPS"])
