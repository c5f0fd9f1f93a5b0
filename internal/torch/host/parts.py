"""The modules of torch._dynamo that fakes use, without the package, whose imports take longer than the fakes of most programs.

Where anything asks for more, the package is imported whole.
"""

import importlib.util
import types

from torch.utils._python_dispatch import _disable_current_modes

PACKAGE = "torch._dynamo"
PARTS = "config", "exc", "source"


class Parts(types.ModuleType):
    """The package before its own file has run."""

    def __getattr__(self, name):
        if name.startswith("__") or others not in sys.meta_path:
            raise AttributeError(name)
        self.complete()
        return getattr(self, name)

    def complete(self):
        sys.meta_path.remove(others)
        self.__class__ = types.ModuleType
        with _disable_current_modes():  # a fake may ask
            self.__spec__.loader.exec_module(self)


class Others:
    """Finds the modules that are not there yet: the file of the package imports them in an order in which they can be."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(PACKAGE + "."):
            return None
        torch._dynamo.complete()
        if module := sys.modules.get(name):
            # Python takes the module's own, and would run its file again.
            there = types.SimpleNamespace(create_module=lambda spec: module, exec_module=lambda module: None)
            module.__spec__ = importlib.machinery.ModuleSpec(name, there)
        return module and module.__spec__


others = Others()


def import_parts():
    torch._dynamo = importlib.util.module_from_spec(importlib.util.find_spec(PACKAGE))
    torch._dynamo.__class__ = Parts
    torch._dynamo.disable = lambda function, *_, **keywords: function  # for calls in Python: nothing is compiled
    sys.modules[PACKAGE] = torch._dynamo
    for part in PARTS:
        importlib.import_module(f"{PACKAGE}.{part}")
    sys.meta_path.insert(0, others)


if PACKAGE not in sys.modules:
    import_parts()
from torch.fx.experimental import symbolic_shapes  # noqa: E402

symbolic_shapes.uninteresting_files = set  # whose modules it would import to leave them out of messages
