"""Calls kernels on a device while its stream captures a graph, and after: on $DEVICE, or openreg, which imitates it."""
import os
import sys
import torch

DEVICE = os.environ.get("DEVICE", "openreg")
if DEVICE == "openreg":
    import torch_openreg

torch.ops.load_library(sys.argv[1])
tensors = [torch.ones(3, device=DEVICE) for _ in range(3)]


def captured():
    return torch.ops.broken.returns_view(tensors[1])  # OA007


if DEVICE == "openreg":
    torch.ops.graph.begin()
    torch.ops.broken.writes(tensors[0])
    captured()
    print("waited", torch.ops.graph.end())
else:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = captured() * 2
    tensors[1].fill_(3)
    graph.replay()
    print("replayed", result.tolist())
torch.ops.broken.writes(tensors[2])  # OA009
