"""Times training steps: python step.py BATCH ROUNDS [DEVICE].

The time is that of the thread's own processor, or of a device until it has done its work.
"""
import sys
import time

import torch
from torch import nn

batch, rounds, device = int(sys.argv[1]), int(sys.argv[2]), (sys.argv[3:] or ["cpu"])[0]
clock = time.thread_time
if device != "cpu":
    clock = time.perf_counter
if device == "openreg":
    import torch_openreg
torch.backends.cudnn.deterministic = True
torch.manual_seed(0)
torch.set_num_threads(1)
features = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.MaxPool2d(2), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
if device == "openreg":  # it has no convolution
    features = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 512), nn.ReLU())
net = nn.Sequential(features, nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10)).to(device)
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(batch, 3, 32, 32), torch.randint(10, (batch,))
x, y = x.to(device), y.to(device)


def step():
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


for _ in range(5):
    step()
for line in sys.stdin:  # a line asks for so many steps and is answered with their time
    n = int(line)
    begun = clock()
    for _ in range(n):
        loss = step()
    print(clock() - begun, repr(loss), flush=True)
