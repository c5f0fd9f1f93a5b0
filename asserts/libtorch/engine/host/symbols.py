"""Fakes under sizes that are symbols, as compilers call them for shapes that change."""

import sympy
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, StatelessSymbolicContext

CALLS = 4  # of an op, under symbols
times = {}  # op: how often it was called so


class Symbols(ShapeEnv):
    """Sizes of tensors, with the guards on them and the lines outside of PyTorch that led to these.

    What torch._check asks for is no guard. Nor is what a PyTorch op asks for that the fake
    calls, to choose how it computes, unless it makes a number of a size.
    """

    def __init__(self):
        super().__init__(duck_shape=False, prefer_deferred_runtime_asserts_over_guards=True)
        self.asked, self.shapes, self.names, self.values = [], {}, {}, {}

    def evaluate_expr(self, *args, **keywords):
        known = len(self.guards)
        result = super().evaluate_expr(*args, **keywords)
        if len(self.guards) > known:
            stack = traceback.extract_stack()
            frames = [f for f in stack if not f.filename.startswith((ROOT, "<"))]
            place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
            own = not any(f.name == "__torch_dispatch__" for f in stack[stack.index(frames[-1]) :]) if frames else False
            self.asked += [(g.expr, place) for g in self.guards[known:] if own or isinstance(g.expr, sympy.Eq)]
        return result

    def add(self, tensor, like, argument, name):
        self.shapes[name] = [s.node.expr for s in tensor.shape]
        for i, symbol in enumerate(self.shapes[name]):
            self.names[symbol] = argument, f"{name}.shape[{i}]"
            self.values[symbol] = like.shape[i]

    def root(self, symbol):
        """Returns the symbol that stands for all of equal sizes."""
        other = self.replacements.get(symbol)
        return self.root(other) if isinstance(other, sympy.Symbol) else symbol

    def breaking(self, guard):
        """Returns sizes that a guard is not true of, None where none are found."""
        named = [int(n) + d for n in guard.atoms(sympy.Integer) for d in (0, 1, -1)]
        for symbol in sorted(guard.free_symbols & self.values.keys(), key=str):
            value = self.values[symbol]
            for n in (n for n in (value + 1, value + 2, value * 2, value + 5, value * 16, *named, 2, 3, 5, 7) if n > 1):
                changed = self.values | {s: n for s in self.values if self.root(s) == self.root(symbol)}
                if guard.subs(changed) == sympy.false:
                    return changed
        return None

    def spelt(self, guard):
        named = guard.subs({s: sympy.Symbol(name) for s, (_, name) in self.names.items()})
        return f"{named.lhs} {named.rel_op} {named.rhs}" if isinstance(named, sympy.core.relational.Relational) else str(named)


def dynamic(t):
    return StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * t.dim())


def warm():
    """Imports what the first call under symbols would."""
    t, mode = torch.empty(2, 3), fake_mode(Symbols())
    with mode:
        assert not torch.relu(mode.from_tensor(t, source=ConstantSource("t"), symbolic_context=dynamic(t))).shape[0] > 5


def mapped(values, names, f, argument=None):
    """Returns values with f of each tensor, its argument and its name in the place of it."""
    if isinstance(values, torch.Tensor):
        return f(values, argument, names)
    if isinstance(values, (list, tuple)):
        return [mapped(v, f"{names}[{i}]", f, argument) for i, v in enumerate(values)]
    return values


def shape_of(answer):
    """Returns what does not depend on sizes of what a fake returned."""
    return [[t and (t["dtype"], len(t["sizes"])) for t in result] for result in answer.get("results", [])]


def guards(function, args, kwargs, static):
    """Returns the guards that the fake of an op sets on sizes for nothing: with others it returns the like of what it returned.

    A fake that refuses them, or returns other tensors, has to ask. Sizes are symbols
    where all tensors are contiguous and of sizes that compilers have symbols for.
    """
    arguments = function._schema.arguments
    given = {i: v for i, v in enumerate(args)} | {i: kwargs[a.name] for i, a in enumerate(arguments) if a.name in kwargs}

    def called(f, mode):
        made = {i: mapped(v, arguments[i].name, f, i) for i, v in given.items()}
        return answered(function, [made[i] for i in range(len(args))], {arguments[i].name: v for i, v in made.items() if i >= len(args)}, mode)

    tensors = [t for v in given.values() for t in held(v) if t is not None]
    if not all(t.layout == torch.strided and t.is_contiguous() and min(t.shape, default=2) > 1 for t in tensors):
        return []
    times[function] = times.get(function, 0) + 1
    if times[function] > CALLS:
        return []
    symbols = Symbols()
    mode = fake_mode(symbols)

    def symbolic(t, argument, name):
        fake = mode.from_tensor(t, source=ConstantSource(name.replace("[", "_").replace("]", "")), symbolic_context=dynamic(t))
        symbols.add(fake, t, argument, name)
        return fake

    if called(symbolic, mode).get("results") is None:
        return []
    found = []
    for guard, place in dict.fromkeys(symbols.asked):
        other, sizes = fake_mode(ShapeEnv()), symbols.breaking(guard)

        def changed(t, argument, name):
            with other:
                return torch.empty([sizes[s] for s in symbols.shapes[name]], dtype=t.dtype, device=t.device)

        if place and sizes and shape_of(called(changed, other)) == shape_of(static):
            first = min(guard.free_symbols & symbols.names.keys(), key=str)
            found.append({"argument": symbols.names[first][0], "text": symbols.spelt(guard), "at": place})
    return found
