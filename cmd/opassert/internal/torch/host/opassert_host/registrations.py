"""Registrations of modules that are imported, with their places."""

import contextlib
import inspect
import os

import torch
from torch._library.custom_ops import OPDEFS
from torch._library.simple_registry import singleton
from torch._library.utils import lookup_op

from .places import ROOT, caller

LIBRARY = ROOT + "library.py", ROOT + "_library" + os.sep  # how the files of torch.library begin


def written(function, seen=()):
    """Returns the function that a user wrote, without its wrappers."""
    while hasattr(function, "func"):
        function = function.func
    called = getattr(type(function), "__call__", None)  # noqa: B004
    if hasattr(called, "__code__") and not called.__code__.co_filename.startswith(ROOT):
        function = called  # of an object
    function = inspect.unwrap(function)
    if getattr(function, "__code__", None) and function.__code__.co_filename.startswith(ROOT) and function not in seen:
        inner = [written(f, (*seen, function)) for f in enclosed(function) if inspect.isfunction(f)]
        users = [f for f in inner if not f.__code__.co_filename.startswith(ROOT)]
        return (users + inner + [function])[0]
    return function


def site(function):
    """Returns the file and the line of a function, "" and 0 for one that is not in Python."""
    code = getattr(written(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else ("", 0)


def enclosed(function):
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # of an empty one
            yield cell.cell_contents


def dispatched(name):
    """Returns the dispatcher's schema of an op, or None."""
    base, _, of = name.partition(".")
    with contextlib.suppress(RuntimeError):
        return str(torch._C._get_schema(base, of))


def is_written(argument):
    return argument.alias_info is not None and argument.alias_info.is_write


def overload(name):
    """Returns the op of a name such as ns::op.overload, or None."""
    with contextlib.suppress(AttributeError):
        return lookup_op(name)


class Registrations:
    """Records what modules register with torch.library while they are imported, once record() was called."""

    BELOW = ("Meta", "Autograd", "FuncTorch", "Functionalize", "Python")  # dispatch keys other than of kernels
    RULES = ("Autograd", "AutogradCPU", "FuncTorchBatched", "AutocastCPU")

    def __init__(self):
        self.recorded = False
        self.definers = {}  # op: file and line
        self.schemas = {}  # op: {schema: file and line}, also of definitions that PyTorch rejected or replaced
        self.functions = {}  # op: {"fake", or the dispatch key of a kernel: function}
        self.formulas = {}  # op: what has backward and setup_context for autograd, also those registered later
        self.rules = {}  # op: {a dispatch key of RULES: function}
        self.device_rules = {}  # (op, dispatch key of a device's autograd): function
        self.decomposing = set()  # ops that a user registered as CompositeImplicitAutograd
        self.marked = False  # ops that declared a result without a gradient

    def record(self):
        self.recorded = True
        library = torch.library.Library
        define, impl = library.define, library.impl

        def recorded_define(this, schema, *args, **keywords):
            base, _, rest = str(schema).partition("(")
            name, place = f"{this.ns}::{base.strip().rpartition('::')[2]}", caller(LIBRARY)
            if there := dispatched(name):  # which rejects another
                self.schemas.setdefault(name, {}).setdefault(there, ("", 0))
                with contextlib.suppress(RuntimeError):
                    self.schemas[name].setdefault(str(torch._C.parse_schema(f"{name}({rest}")), place)
            result = define(this, schema, *args, **keywords)
            self.definers[name] = place
            self.schemas.setdefault(name, {}).setdefault(dispatched(name), place)
            return result

        def recorded_impl(this, name, function, dispatch_key="", **keywords):
            result = impl(this, name, function, dispatch_key, **keywords)
            name = f"{this.ns}::{str(getattr(name, '_name', name)).rpartition('::')[2]}"
            if dispatch_key == "CompositeImplicitAutograd":
                self.decomposing.add(name)
            if callable(function) and dispatch_key == "Meta":
                self.add(name, "fake", function)
            elif callable(function) and dispatch_key in self.RULES:
                self.rules.setdefault(name, {})[dispatch_key] = function
            elif callable(function) and dispatch_key.startswith("Autograd") and function is not torch.library.fallthrough_kernel:
                self.device_rules[name, dispatch_key] = function
            elif callable(function) and not dispatch_key.startswith(self.BELOW):
                self.add(name, dispatch_key or "CompositeImplicitAutograd", function)
            return result

        def recorded_formula(op, info):
            self.formulas[op.name()] = info
            return formula(op, info)

        def recorded_mark(this, *tensors):
            self.marked = True
            return mark(this, *tensors)

        library.define, library.impl = recorded_define, recorded_impl
        autograd, context = torch._library.autograd, torch.autograd.function.FunctionCtx
        formula, autograd.make_autograd_impl = autograd.make_autograd_impl, recorded_formula
        mark, context.mark_non_differentiable = context.mark_non_differentiable, recorded_mark

    def imported(self, load):
        """Records what the user's modules register, and returns a function that lists the ops that they add."""
        names = torch._C._dispatch_get_all_op_names
        self.before = set(names())
        self.record()
        for module in filter(None, os.environ["OPASSERT_MODULES"].split(",")):
            load(module)
        return lambda: [op for op in sorted(set(names()) - self.before) if not self.own(op)]

    def add(self, name, key, function):
        if site(function)[0]:
            self.functions.setdefault(name, {})[key] = function

    def decomposes(self, name):
        """Reports whether only a decomposition is registered for an op."""
        return name not in OPDEFS and self.functions.get(name, {}).keys() == {"CompositeImplicitAutograd"} and name not in self.rules

    def own(self, name):
        """Reports whether PyTorch registered an op during the imports."""
        return self.definers.get(name, ("", 0))[0].startswith(ROOT)

    def kernels(self, name):
        custom = OPDEFS.get(name.partition(".")[0])
        return [custom._init_fn] if custom else [f for key, f in self.functions.get(name, {}).items() if key != "fake"]

    def kernel(self, name):
        """Returns the place of the kernel that was registered last."""
        return site(next(reversed(self.kernels(name)), None))

    def function(self, name):
        """Returns the fake of an op, or None; without a record none that is known by its dispatch key alone."""
        if custom := OPDEFS.get(name.partition(".")[0]):
            return custom._abstract_fn
        return self.functions.get(name, {}).get("fake") if self.recorded else singleton.find(name).fake_impl.kernel

    def fake(self, name):
        """Returns the place of an op's fake, None if it has none."""
        function = self.function(name)
        return function and site(function)

    def formula(self, name, device_rule=None):
        """Returns the place of an op's formula for autograd, that of a device by its dispatch key."""
        rules, backward = self.rules.get(name, {}), getattr(self.formulas.get(name), "_backward_fn", None)
        users = self.device_rules.get((name, device_rule)) or backward
        return site(users or rules.get("Autograd") or rules.get("AutogradCPU"))


registered = Registrations()
