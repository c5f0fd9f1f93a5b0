# aten::f: SIGSEGV
#
# f(Tensor self) -> Tensor
#
# aten::f(self=float32[0])
#   in at::native::f
#
# Seen with libtorch 2.6.0. The exit status is 1 if the fault is there, 0 if it is not, 2 if the
# call raises.

import os
import resource
import signal
import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


self = torch.tensor([], dtype=torch.float32)
child = os.fork()
if child == 0:
    signal.alarm(60)
    resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
    torch.set_num_threads(1)
    torch.f(self)
    os._exit(0)
status = os.waitpid(child, 0)[1]
if os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGXCPU):
    print("the call does not end")
    sys.exit(2)
if os.WIFSIGNALED(status):
    print("the fault is there: the call ends its process with", signal.Signals(os.WTERMSIG(status)).name)
    sys.exit(1)
print("the fault is not there")

# Or:

# aten::f: SIGSEGV
#
# f(Tensor self) -> Tensor
#
# aten::f(self=float32[0])
#   in at::native::f
#
# Seen with libtorch 2.6.0. The exit status is 1 if the fault is there, 0 if it is not, 2 if the
# call raises.

import os
import resource
import signal
import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


self = torch.tensor([], dtype=torch.float32)
child = os.fork()
if child == 0:
    signal.alarm(60)
    resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
    torch.set_num_threads(1)
    torch.ops.aten.f.default(self)
    os._exit(0)
status = os.waitpid(child, 0)[1]
if os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGXCPU):
    print("the call does not end")
    sys.exit(2)
if os.WIFSIGNALED(status):
    print("the fault is there: the call ends its process with", signal.Signals(os.WTERMSIG(status)).name)
    sys.exit(1)
print("the fault is not there")

# Or:

# aten::f: SIGSEGV
#
# f(Tensor self) -> Tensor
#
# aten::f(self=float32[0])
#   in at::native::f
#
# Seen with libtorch 2.6.0. The exit status is 1 if the fault is there, 0 if it is not, 2 if the
# call raises.

import os
import resource
import signal
import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


self = torch.tensor([], dtype=torch.float32)
child = os.fork()
if child == 0:
    signal.alarm(60)
    resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
    torch.set_num_threads(1)
    with torch._C._AutoDispatchBelowAutograd():
        torch.ops.aten.f.default(self)
    os._exit(0)
status = os.waitpid(child, 0)[1]
if os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGXCPU):
    print("the call does not end")
    sys.exit(2)
if os.WIFSIGNALED(status):
    print("the fault is there: the call ends its process with", signal.Signals(os.WTERMSIG(status)).name)
    sys.exit(1)
print("the fault is not there")
