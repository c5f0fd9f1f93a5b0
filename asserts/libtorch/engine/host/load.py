"""The Python that imports a user's modules: here PyTorch, and how to import.

The files of this folder are one program, one after the other: see host.go.
"""

import importlib
import json
import os
import socket
import sys
import traceback

PACKET = 1 << 13  # bytes
ROOT = ""  # the folder of PyTorch, once it is imported


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def explained(error):
    """Returns an exception in a line, with the place where it was raised."""
    return " ".join("".join(traceback.format_exception_only(type(error), error)).split()) + raised_at(error)


def raised_at(error):
    """Returns the place of an exception in brackets: outside of PyTorch, where it passed through such code."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<")]
    frames = [f for f in frames if not f.filename.startswith(ROOT)] or frames
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def say(word, *rest):
    if control:
        control.send("\t".join((word, *rest)).encode("utf-8", "replace")[:PACKET])


def load(module):
    """Imports a module, also by the name of its package: "flash-attn"."""
    say("load", quoted(module))
    try:
        importlib.import_module(module.replace("-", "_"))
    except BaseException as error:
        say("fault", quoted(explained(error)))
        if not control:
            print(f"load {module}: {explained(error)}", file=sys.stderr)
        os._exit(1)


files = [int(f) for f in os.environ.pop("OPASSERT_FILES", "").split(",") if f]
control = None if files or "OPASSERT_CONTROL" not in os.environ else socket.socket(fileno=int(os.environ["OPASSERT_CONTROL"]))
load("torch.library")
import torch

ROOT = os.path.dirname(torch.__file__) + os.sep
load("torch._dynamo")  # which the first call of an op in Python would import
load("torch._library.custom_ops")  # of PyTorch 2.4 and later
