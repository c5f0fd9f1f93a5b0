"""Times training steps in the thread's own processor time: python step.py BATCH ROUNDS."""
import sys
import time

import torch
from torch import nn

batch, rounds = int(sys.argv[1]), int(sys.argv[2])
torch.manual_seed(0)
torch.set_num_threads(1)
net = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.MaxPool2d(2), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(batch, 3, 32, 32), torch.randint(10, (batch,))


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
    begun = time.thread_time()
    for _ in range(n):
        loss = step()
    print(time.thread_time() - begun, repr(loss), flush=True)
