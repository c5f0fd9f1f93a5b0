"""Kernels that end, fork, hang or write to files that are not theirs, in a module that
has a thread."""

import ctypes
import os
import sys
import threading

import torch

threading.Thread(target=threading.Event().wait, daemon=True).start()
library = torch.library.Library("hostile", "DEF")


def op(kernel):
    library.define(f"{kernel.__name__}(Tensor x) -> Tensor")
    library.impl(kernel.__name__, kernel, "CPU")


def read_null():
    ctypes.string_at(8)


@op
def crashes(x):
    read_null()
    return x.clone()


@op
def exits(x):
    os._exit(0)


@op
def hangs(x):
    while True:
        pass


@op
def forks(x):
    os.fork()
    return x.clone()


@op
def writes(x):
    for file in range(3, 100):
        try:
            os.write(file, b"done\n")
        except OSError:
            pass
    return x.clone()


@op
def prints(x):
    print("::error::no", flush=True)
    return x.clone()


@op
def raises(x):
    raise ValueError("x is not what was expected")


@op
def leaves(x):
    sys.exit(3)
