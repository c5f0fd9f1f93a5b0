"""Handles every signal that it may, then none: an operator that breaks its promise is reported at its line, and nothing is sent."""
import faulthandler
import os
import signal
import sys

import torch

lib = torch.library.Library("signals", "DEF")
lib.define("same(Tensor x) -> Tensor")
lib.impl("same", lambda x: x, "CPU")
got = []
REALTIME = range(signal.SIGRTMIN, signal.SIGRTMAX + 1)

print([signal.getsignal(number) == signal.SIG_DFL for number in REALTIME])
for number in REALTIME:
    signal.signal(number, lambda number, frame: got.append(number))
torch.ops.signals.same(torch.ones(2))  # OA007
print(got)
for number in REALTIME:
    os.kill(os.getpid(), number)
print(got == list(REALTIME), faulthandler.is_enabled())
for number in REALTIME:
    signal.signal(number, signal.SIG_DFL)
torch.ops.signals.same(torch.ones(2))  # OA007
signal.pthread_sigmask(signal.SIG_BLOCK, REALTIME)
torch.ops.signals.same(torch.ones(2))  # OA007
print(signal.sigpending(), signal.sigtimedwait(REALTIME, 0))
os.kill(os.getpid(), int(sys.argv[1]))
signal.pthread_sigmask(signal.SIG_UNBLOCK, REALTIME)
