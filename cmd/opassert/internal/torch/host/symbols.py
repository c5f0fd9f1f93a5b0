"""Fakes under symbolic sizes, as compilers call them for dynamic shapes."""

import sympy
from torch._decomp import decomposition_table, meta_table
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

CALLS = 4  # calls of an op under symbols
TRIED = 8  # excluded sizes tried for a guard
times = {}  # op: its calls under symbols

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
            place, own = asking(self.function, frames())
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


def frames():
    """Returns the frames of the caller, outermost first, without source lines."""
    walked = traceback.walk_stack(sys._getframe(1))
    return [traceback.FrameSummary(f.f_code.co_filename, line, f.f_code.co_name, lookup_line=False) for f, line in walked][::-1]


def asking(function, stack):
    """Returns the line of an op's fake in a stack, and whether the fake itself sets the guard, and not an op that it calls."""
    calls = [i for i, f in enumerate(stack) if f.name == "__torch_dispatch__"]
    frames = [i for i, f in enumerate(stack) if not f.filename.startswith((ROOT, "<"))]
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
    """Returns the place of the function that an op of PyTorch calls on Meta: in Python, or else as the dispatcher has it."""
    ours = meta_table.get(function) or decomposition_table.get(function)
    if code := getattr(inspect.unwrap(ours), "__code__", None) if ours else None:
        return f"{code.co_filename}:{code.co_firstlineno}"
    lines = torch._C._dispatch_dump(function.name()).splitlines()
    for key in ("Meta", "CompositeExplicitAutograd", "CompositeImplicitAutograd"):
        for line in lines:
            if line.startswith(key) and " registered at " in line:
                return line.partition(" registered at ")[2].partition(" ")[0]
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


def mapped(values, names, f, argument=None):
    """Returns values with each tensor replaced by f of it, its argument and its name."""
    if isinstance(values, torch.Tensor):
        return f(values, argument, names)
    if isinstance(values, (list, tuple)):
        return [mapped(v, f"{names}[{i}]", f, argument) for i, v in enumerate(values)]
    return values


def shape_of(answer):
    """Returns the parts of a fake's results that do not depend on sizes."""
    return [[t and (t["dtype"], len(t["sizes"])) for t in result] for result in answer.get("results", [])]


def unlike_static(answer, static):
    """Returns how the results of a fake for symbols differ from those for their numbers, "" if they don't."""
    if shape_of(answer) != shape_of(static):
        return "returns other dtypes or dimensions than for numbers"
    pairs = [(s, n) for ours, theirs in zip(answer["results"], static["results"]) for a, b in zip(ours, theirs) if a for s, n in zip(a["sizes"], b["sizes"])]
    known = [(s[0], n[0]) for s, n in pairs if s[0] == s[1] and n[0] == n[1]]
    return next((f"returns the size {s}, and {n} for numbers" for s, n in known if s != n), "")


def under_symbols(function, args, kwargs, static):
    """Returns how the fake of an op fails under symbolic sizes, or the unneeded guards that it sets on them.

    A guard is unneeded if the fake returns similar results for excluded sizes: a fake that rejects some, or returns other tensors, needs it. Sizes are symbols if all tensors are contiguous and have sizes that compilers use symbols for. Those of out= of PyTorch's own ops are 0: such an op resizes them.
    """
    arguments = function._schema.arguments
    given = {i: v for i, v in enumerate(args)} | {i: kwargs[a.name] for i, a in enumerate(arguments) if a.name in kwargs}
    outs = {i for i, a in enumerate(arguments) if a.is_out and function.namespace in NAMESPACES}

    def called(f, mode):
        made = {i: mapped(v, arguments[i].name, f, i) for i, v in given.items()}
        return answered(function, [made[i] for i in range(len(args))], {arguments[i].name: v for i, v in made.items() if i >= len(args)}, tracing(mode))

    tensors = [t for i, v in given.items() for t in held(v) if t is not None and i not in outs]
    if not all(t.layout == torch.strided and t.is_contiguous() and min(t.shape, default=2) > 1 for t in tensors):
        return {}
    if function.namespace in NAMESPACES and any(t.device.type != "cpu" for t in tensors):
        return {}  # check -python calls their fakes on the CPU
    times[function] = times.get(function, 0) + 1
    if times[function] > CALLS:
        return {}
    symbols = Symbols(function)
    mode = fake_mode(symbols)

    def emptied(t):
        return torch.empty(0, dtype=t.dtype, device=t.device)

    def symbolic(t, argument, name):
        if argument in outs:
            with mode:
                return emptied(t)
        fake = mode.from_tensor(t, source=ConstantSource(name.replace("[", "_").replace("]", "")), symbolic_context=dynamic(t))
        symbols.add(fake, t, argument, name)
        return fake

    answer = called(symbolic, mode)
    if answer.get("results") is None:
        fault = answer.get("fault", "raises GuardOnDataDependentSymNode")  # as for contents, which no fake knows
        return {} if outs or fault.startswith("raises GuardOnDataDependentSymNode") else {"fault": f"under symbolic sizes {fault}", "symbols": "refuses" in answer}
    if not outs and (fault := unlike_static(answer, static)):
        if why := stray_under_symbols(function, args, kwargs):
            return {"unknown": why}
        return {"fault": f"under symbolic sizes {fault}"}
    if not all("Tensor" in str(r.type) for r in function._schema.returns):
        return {}  # a number that it returns may depend on the guard
    found, needed = [], set()
    for guard, place in dict.fromkeys(symbols.asked):
        other, breaking = fake_mode(ShapeEnv()), symbols.breaking(guard)

        def returned(sizes):
            def changed(t, argument, name):
                with other:
                    return emptied(t) if argument in outs else emptied(t).new_empty([sizes[s] for s in symbols.shapes[name]])

            return called(changed, other)

        if breaking and place and shape_of(returned(breaking[0])) == shape_of(static):
            first = min(guard.free_symbols & symbols.names.keys(), key=str)
            found.append({"argument": symbols.names[first][0], "text": symbols.spelt(guard), "at": place, "other": symbols.like(breaking[0])})
        if any(returned(sizes).get("refuses") for sizes in breaking[:TRIED]):
            needed.add(place)
    return {"guards": [guard for guard in found if guard["at"] not in needed]}
