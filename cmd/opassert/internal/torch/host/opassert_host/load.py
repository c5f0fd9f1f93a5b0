"""Imports of PyTorch and of a user's modules. It is imported first, as it reports what hides modules of Python's own."""

import contextlib
import gc
import importlib
import json
import os
import socket
import sys
import traceback

PACKET = 1 << 13  # bytes
MARK = b"\x1e"  # marks lines about the module that is loaded: see suite.Loading

for module in importlib, json, socket, traceback:
    if not os.path.realpath(module.__file__).startswith(os.path.dirname(os.path.realpath(os.__file__)) + os.sep):
        sys.exit(f"{module.__file__} hides Python's own {module.__name__}: rename it, or run in another folder")
from .places import explained, quoted  # noqa: E402


def say(word, *rest):
    if not control:
        return
    try:
        control.send("\t".join((word, *rest)).encode("utf-8", "replace")[:PACKET])
    except OSError as error:
        sys.exit(f"the socket to opassert can't be written; a module may have closed it: {error}")


def flush():
    """Flushes the standard streams, unless a module has replaced them."""
    for file in sys.stdout, sys.stderr:
        with contextlib.suppress(AttributeError, OSError, ValueError):
            file.flush()


def begin(module):
    """Writes which module is loaded next, or with "" that the next output is opassert's."""
    flush()
    if control:
        with contextlib.suppress(OSError):
            os.write(2, MARK)
    say("load", quoted(module))


def load(module):
    """Imports a module, also by the name of its package: "flash-attn"."""
    begin(module)
    try:
        importlib.import_module(module.replace("-", "_"))
    except BaseException as error:
        flush()
        say("fault", quoted(explained(error)))
        if not control:
            print(f"load {module}: {explained(error)}", file=sys.stderr)
        os._exit(1)


files = [int(f) for f in os.environ.pop("OPASSERT_FILES", "").split(",") if f]
control = None if files or "OPASSERT_CONTROL" not in os.environ else socket.socket(fileno=int(os.environ["OPASSERT_CONTROL"]))
gc.disable()  # imports make little garbage, and it looks at all that they made
load("torch.library")
import torch  # noqa: E402

from .dynamo_parts import import_parts  # noqa: E402

import_parts()  # the first call of an op in Python would import the package
load("torch._library.custom_ops")  # of PyTorch 2.4 and later
for check in {"check_aliasing_constraint", "_c_check_aliasing_constraint"} & vars(torch._library.utils).keys():
    setattr(torch._library.utils, check, lambda *args, **keywords: None)  # by which custom_op rejects the faults to be found
gc.enable()
begin("")
