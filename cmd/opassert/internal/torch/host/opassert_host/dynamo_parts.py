"""The modules of torch._dynamo that fakes use: imports of the whole package take a sixth of a small module's check.

If anything needs more, the whole package is imported.
"""

import importlib.util
import logging
import sys
import types

import torch
from torch.utils._python_dispatch import _disable_current_modes

PACKAGE = "torch._dynamo"
PARTS = "config", "exc", "source"


class Parts(types.ModuleType):
    """The package before its __init__.py has run, which finds its modules that are not imported yet, in the order of that file."""

    def __getattr__(self, name):
        if name.startswith("__") or self not in sys.meta_path:
            raise AttributeError(name)
        self.complete()
        return getattr(self, name)

    def complete(self):
        sys.meta_path.remove(self)
        self.__class__ = types.ModuleType
        with _disable_current_modes():  # a fake may ask
            self.__spec__.loader.exec_module(self)

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(PACKAGE + "."):
            return None
        self.complete()
        if module := sys.modules.get(name):
            # Python uses the module's own, and would run its file again.
            there = types.SimpleNamespace(create_module=lambda spec: module, exec_module=lambda module: None)
            module.__spec__ = importlib.machinery.ModuleSpec(name, there)
        return module and module.__spec__


def import_parts():
    """Makes the package of its parts, unless the program has imported it; returns the module of symbols."""
    if PACKAGE not in sys.modules:
        torch._dynamo = importlib.util.module_from_spec(importlib.util.find_spec(PACKAGE))
        torch._dynamo.__class__ = Parts
        torch._dynamo.disable = lambda function, *_, **keywords: function  # for calls in Python: nothing is compiled
        sys.modules[PACKAGE] = torch._dynamo
        for part in PARTS:
            importlib.import_module(f"{PACKAGE}.{part}")
        sys.meta_path.insert(0, torch._dynamo)
    from torch.fx.experimental import symbolic_shapes

    symbolic_shapes.uninteresting_files = set  # whose modules it would import to leave them out of messages
    logging.getLogger("torch.__trace").handlers.clear()  # to which each fake tensor writes its stack
    return symbolic_shapes
