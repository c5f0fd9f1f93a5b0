"""Calls operators that break their promises from compiled functions: each is reported once, at the line that calls it."""
import os

os.environ.pop("CI", None)  # with which PyTorch raises in compiled graphs where an op returns its argument
import torch

lib = torch.library.Library("compiled", "DEF")
lib.define("kept(Tensor x) -> Tensor")
lib.define("same(Tensor x) -> Tensor")
lib.define("writes(Tensor x) -> Tensor")
lib.define("sound(Tensor x) -> Tensor")
lib.define("views(Tensor x) -> Tensor")
lib.define("raises_(Tensor(a!) x) -> ()")  # as the in-place op that it calls raises the version
keep = []


def kept(x):
    y = x + 1
    keep.append(y)
    return y.t()


def writes(x):
    x.add_(1)
    return x.clone()


def raises_(x):
    x.mul_(2)


lib.impl("raises_", raises_, "CPU")
lib.impl("raises_", lambda x: None, "Meta")
lib.impl("kept", kept, "CPU")
lib.impl("same", lambda x: x, "CPU")
lib.impl("writes", writes, "CPU")
lib.impl("sound", lambda x: x.clone(), "CPU")
lib.impl("views", lambda x: (x + 1).transpose(0, 1).unsqueeze(0), "CPU")  # its result keeps what it is a view of
lib.impl("kept", lambda x: torch.empty_like(x).t(), "Meta")
lib.impl("same", torch.empty_like, "Meta")
lib.impl("writes", torch.empty_like, "Meta")
lib.impl("sound", lambda x: x, "Meta")  # the fake's fault, and no kernel's: OA011
lib.impl("views", lambda x: torch.empty_like(x).t().unsqueeze(0), "Meta")


def helper(x):
    return torch.ops.compiled.same(x) + 1  # OA007


class Net(torch.nn.Module):
    def forward(self, x):
        y = torch.ops.compiled.sound(x) * 2
        z = torch.ops.compiled.kept(y)  # OA005
        w = torch.ops.compiled.writes(y + 1)  # OA009
        v = torch.ops.compiled.views(y)
        torch.ops.compiled.raises_(v)
        return z.sum() + helper(w) + v.sum()


net = Net()
backends = [None, "inductor", "eager"]
if torch.__version__ >= (2, 10):  # before, an interpreter runs the graph, and no frame says which of its nodes
    backends.append("aot_eager")
for backend in backends:
    torch._dynamo.reset()
    f = torch.compile(net, backend=backend) if backend else net
    for _ in range(2):
        f(torch.ones(2, 3))
with torch._subclasses.FakeTensorMode():
    torch.ops.compiled.sound(torch.ones(2))
print("done")
