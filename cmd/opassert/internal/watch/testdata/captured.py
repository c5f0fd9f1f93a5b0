"""Calls kernels on a device while its stream captures a graph, and after."""
import sys
import torch
import torch_openreg

torch.ops.load_library(sys.argv[1])
tensors = [torch.ones(3, device="openreg") for _ in range(3)]
torch.ops.graph.begin()
torch.ops.broken.writes(tensors[0])
torch.ops.broken.returns_view(tensors[1])  # OA007
print("waited", torch.ops.graph.end())
torch.ops.broken.writes(tensors[2])  # OA009
