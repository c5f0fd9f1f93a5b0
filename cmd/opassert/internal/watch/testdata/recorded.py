"""Calls the operators of recorded.cpp, in two processes, and is killed."""
import os
import signal
import sys

import torch

torch.ops.load_library(sys.argv[1])
ops = torch.ops.recorded


def resample(n):
    x = torch.ones(n, 4, 5, dtype=torch.double).transpose(1, 2)
    ops.resample(x, "lanczos'3, [a]", [7, 1], 0.125, [None, torch.ones(2) > 0], into=torch.bfloat16, exact=True)


child = os.fork()
for i in range(100):
    ops.many(torch.ones(2, 50 + i if child else 150 - i))
resample(2 if child else 3)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
try:
    ops.resample(torch.ones(1), "", [], 0, [])
except RuntimeError:
    pass
os.kill(os.getpid(), signal.SIGKILL)
