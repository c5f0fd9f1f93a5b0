"""Calls an op that breaks its promise from places, by classes and in a process whose names are more than text."""

import ctypes
import os
import sys

import torch

NASTY = "x\n::error::forged\x1b[31m\u202e\u200f\u2028##[error]\r\a"
NAMES = [NASTY, "::set-output name=a::b", "l" * 100_000, "\udcff\udcfe", "\U000e0041<script>alert(1)</script>]]>"]

lib = torch.library.Library("named", "DEF")


def define(name, kernel):
    lib.define(name + "(Tensor x) -> Tensor")
    lib.impl(name, kernel, "CPU")
    return getattr(torch.ops.named, name)


def raises(x):
    raise ValueError(NASTY)


def placed(file, function):
    scope = {}
    exec(compile("def call(op, x):\n    return op(x)\n", file.replace("\udcff\udcfe", os.fsdecode(b"\xff\xfe")), "exec"), scope)
    call = scope["call"]
    qualified = {"co_qualname": function} if sys.version_info >= (3, 11) else {}
    call.__code__ = call.__code__.replace(co_name=function, **qualified)
    return call


same, failing = define("same", lambda x: x.view(x.shape)), define("raises", raises)
x = torch.ones(4)
for file in NAMES:
    for function in NAMES:
        placed(file + ".py", function)(same, x)
try:
    failing(x)
except ValueError:
    pass
for name in NAMES[:3]:
    Named = type(name, (torch.Tensor,), {"__module__": name, "__qualname__": name})
    same(torch.ones(4).as_subclass(Named)).untyped_storage()
ctypes.CDLL(None).prctl(15, NASTY.encode(), 0, 0, 0)  # PR_SET_NAME
if os.fork() == 0:
    environment = {"PATH": "/bin", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    libc = ctypes.CDLL(None)
    argv = (ctypes.c_char_p * 5)(sys.executable.encode(), b"-c", b"import torch", os.fsencode(NASTY), None)
    envp = (ctypes.c_char_p * 3)(*(f"{k}={v}".encode() for k, v in environment.items()), None)
    libc.syscall(59 if os.uname().machine == "x86_64" else 221, sys.executable.encode(), argv, envp)  # execve
    os._exit(1)
os.wait()
