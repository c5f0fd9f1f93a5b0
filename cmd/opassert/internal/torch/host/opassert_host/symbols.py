"""Symbolic sizes, with which compilers call fakes for dynamic shapes, and the guards that fakes set on them."""

import contextlib
import inspect
import os
import re
import sys
import traceback

import sympy
import torch
from torch._decomp import decomposition_table, meta_table
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from .fakes import NAMESPACES, fake_mode
from .places import NOT_USERS, ROOT

# The files of the fakes of PyTorch's own ops, and the functions that wrap them.
FAKES = tuple(ROOT + part for part in ("_meta_registrations.py", "_decomp", "_refs", "_prims" + os.sep, "_subclasses" + os.sep + "fake_impls.py"))
WRAPPERS = ("_fn", "wrapper", "inner", "_inner", "inplace", "constructors")


class Symbols(ShapeEnv):
    """Sizes of tensors, with the guards on them and the lines of the fake that set them.

    Conditions of torch._check do not count as guards, nor does a comparison of a value computed from sizes
    with 0 or 1, unless it is a remainder. Nor do conditions by which a PyTorch op that the fake calls chooses
    an algorithm, unless it converts a size to a number.
    """

    def __init__(self, function):
        super().__init__(duck_shape=False, prefer_deferred_runtime_asserts_over_guards=True)
        self.function = function
        self.asked, self.shapes, self.names, self.values = [], {}, {}, {}

    def evaluate_expr(self, *args, **keywords):
        known = len(self.guards)
        result = super().evaluate_expr(*args, **keywords)
        if len(self.guards) > known:
            place, own = asking(self.function)
            asked = [g.expr for g in self.guards[known:] if own or isinstance(g.expr, sympy.Eq)]
            self.asked += [(e, place) for e in asked if not (isinstance(e, (sympy.Eq, sympy.Ne)) and e.rhs in (0, 1)) or is_remainder(e.lhs)]
        return result

    def add(self, tensor, like, argument, name):
        self.shapes[name] = [s.node.expr for s in tensor.shape]
        for i, symbol in enumerate(self.shapes[name]):
            self.names[symbol] = argument, f"{name}.shape[{i}]"
            self.values[symbol] = like.shape[i]

    def root(self, symbol):
        """Returns the symbol for all equal sizes."""
        other = self.replacements.get(symbol)
        return self.root(other) if isinstance(other, sympy.Symbol) else symbol

    def breaking(self, guard):
        """Returns some sizes that a guard excludes."""
        found, named = [], [int(n) + d for n in guard.atoms(sympy.Integer) for d in (0, 1, -1)]
        for symbol in sorted(guard.free_symbols & self.values.keys(), key=str):
            value = self.values[symbol]
            for n in dict.fromkeys(n for n in (value + 1, value + 2, value * 2, value + 5, value * 16, *named, 2, 3, 5, 7) if n > 1):
                changed = self.values | {s: n for s in self.values if self.root(s) == self.root(symbol)}
                if guard.subs(changed) == sympy.false:
                    found.append(changed)
        return found

    def like(self, sizes):
        """Describes the tensors with other sizes."""
        shapes = {name: ([sizes[s] for s in shape], [self.values[s] for s in shape]) for name, shape in self.shapes.items()}
        return ", ".join(f"{name} {other}" for name, (other, own) in shapes.items() if other != own)

    def spelt(self, guard):
        named = guard.subs({s: sympy.Symbol(name) for s, (_, name) in self.names.items()})
        return f"{named.lhs} {named.rel_op} {named.rhs}" if isinstance(named, sympy.core.relational.Relational) else str(named)


def is_remainder(expression):
    return any("Mod" in type(part).__name__ for part in sympy.preorder_traversal(expression))


def asking(function):
    """Returns the calling line of an op's fake, and whether the fake itself sets the guard, not an op that it calls."""
    walked = traceback.walk_stack(sys._getframe(1))
    stack = [traceback.FrameSummary(f.f_code.co_filename, line, f.f_code.co_name, lookup_line=False) for f, line in walked][::-1]
    calls = [i for i, f in enumerate(stack) if f.name == "__torch_dispatch__"]
    frames = [i for i, f in enumerate(stack) if not f.filename.startswith(NOT_USERS)]
    if function.namespace in NAMESPACES:
        inside = range(calls[0], (calls + [len(stack)])[1]) if calls else ()
        frames = [i for i in inside if stack[i].filename.startswith(FAKES) and stack[i].name not in WRAPPERS]
        if not frames:
            return registered_at(function), len(calls) == 1
    if not frames:
        return "", False
    # Some versions of torch.sym_max and others set guards too.
    theirs = any(f.name == "__torch_dispatch__" or f.name.startswith("sym_") for f in stack[frames[-1] + 1 :])
    return f"{stack[frames[-1]].filename}:{stack[frames[-1]].lineno}", not theirs


def registered_at(function):
    """Returns the place of what an op of PyTorch calls on Meta: in Python, or else as the dispatcher has it."""
    ours = meta_table.get(function) or decomposition_table.get(function)
    if code := getattr(inspect.unwrap(ours), "__code__", None) if ours else None:
        return f"{code.co_filename}:{code.co_firstlineno}"
    dump = torch._C._dispatch_dump(function.name())
    for key in ("Meta", "CompositeExplicitAutograd", "CompositeImplicitAutograd"):
        if line := re.search(rf"^{key}.*? registered at (\S+)", dump, re.MULTILINE):
            return line[1]
    return ""


def dynamic(t):
    return StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * t.dim())


@contextlib.contextmanager
def tracing(mode):
    """Calls as compilers do: Python's decompositions compute with symbols what C++ would compute with numbers."""
    with mode, enable_python_dispatcher():
        yield


def warm():
    """Imports the modules that the first call under symbols needs."""
    t, mode = torch.empty(2, 3), fake_mode(Symbols(torch.ops.aten.relu.default))
    with tracing(mode):
        assert not torch.relu(mode.from_tensor(t, source=ConstantSource("t"), symbolic_context=dynamic(t))).shape[0] > 5
