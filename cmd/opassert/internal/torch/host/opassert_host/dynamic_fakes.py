"""Fakes under symbolic sizes, as compilers call them for dynamic shapes."""

import torch
from torch._dynamo.source import ConstantSource
from torch.utils._pytree import keystr, tree_map_with_path

from .blame_own_fakes import mismatch_under_symbols
from .fakes import NAMESPACES, answered, fake_mode, held
from .symbols import Symbols, dynamic, tracing

CALLS = 4  # calls of an op under symbols
TRIED = 8  # excluded sizes tried for a guard
times = {}  # op: its calls under symbols


def shape_of(answer):
    """Returns the parts of a fake's results that do not depend on sizes."""
    return [[t and (t["dtype"], len(t["sizes"])) for t in result] for result in answer.get("results", [])]


def unlike_static(answer, static):
    """Returns how the results of a fake for symbols differ from those for their numbers, "" if they don't."""
    if shape_of(answer) != shape_of(static):
        return "returns other dtypes or dimensions than for numbers"
    tensors = [pair for results in zip(answer["results"], static["results"]) for pair in zip(*results)]
    pairs = [(s, n) for ours, theirs in tensors if ours for s, n in zip(ours["sizes"], theirs["sizes"])]
    known = [(s[0], n[0]) for s, n in pairs if s[0] == s[1] and n[0] == n[1]]
    return next((f"returns the size {s}, and {n} for numbers" for s, n in known if s != n), "")


def under_symbols(function, args, kwargs, static):
    """Returns how the fake of an op fails under symbolic sizes, or the unneeded guards that it sets on them.

    A guard is unneeded if the fake returns similar results for excluded sizes: a fake that rejects some, or returns
    other tensors, needs it. Sizes are symbols if compilers use symbols for them. A tensor that is not contiguous is
    replaced by one that is, and then only guards count; fakes of PyTorch's own ops are not called. Sizes of out= of
    PyTorch's own ops are 0: such an op resizes them.
    """
    arguments, own = function._schema.arguments, function.namespace in NAMESPACES
    names = [a.name for a in arguments]
    given = dict(zip(names, args)) | kwargs
    outs = {a.name for a in arguments if a.is_out and own}
    tensors = [t for name, v in given.items() for t in held(v) if t is not None and name not in outs]
    if not all(t.layout == torch.strided and min(t.shape, default=2) > 1 for t in tensors):
        return {}
    strided = not all(t.is_contiguous() for t in tensors)
    if own and (strided or any(t.device.type != "cpu" for t in tensors)):
        return {}  # check -python calls their fakes on the CPU
    times[function] = times.get(function, 0) + 1
    if times[function] > CALLS:
        return {}
    symbols = Symbols(function)
    mode = fake_mode(symbols)

    def called(f, mode):
        def made(path, t):
            return f(t, path[0].key, path[0].key + keystr(path[1:])) if isinstance(t, torch.Tensor) else t

        return answered(function, [], tree_map_with_path(made, given), tracing(mode))

    def emptied(t):
        return torch.empty(0, dtype=t.dtype, device=t.device)

    def symbolic(t, argument, name):
        if argument in outs:
            with mode:
                return emptied(t)
        if not t.is_contiguous():
            t = emptied(t).new_empty(t.shape)
        source = ConstantSource(name.replace("[", "_").replace("]", ""))
        fake = mode.from_tensor(t, source=source, symbolic_context=dynamic(t))
        symbols.add(fake, t, argument, name)
        return fake

    answer = called(symbolic, mode)
    if answer.get("results") is None:
        fault = answer.get("fault", "raises GuardOnDataDependentSymNode")  # as for contents, which no fake knows
        if outs or strided or fault.startswith("raises GuardOnDataDependentSymNode"):
            return {}
        return {"fault": f"under symbolic sizes {fault}", "symbols": "refuses" in answer}
    if not outs and not strided and (fault := unlike_static(answer, static)):
        if why := mismatch_under_symbols(function, args, kwargs):
            return {"unknown": why}
        return {"fault": f"under symbolic sizes {fault}"}
    if not all("Tensor" in str(r.type) for r in function._schema.returns):
        return {}  # a number that it returns may depend on the guard

    def returned(sizes):
        other = fake_mode()

        def changed(t, argument, name):
            with other:
                shape = 0 if argument in outs else [sizes[s] for s in symbols.shapes[name]]
                return emptied(t).new_empty(shape)

        return called(changed, other)

    return {"guards": unneeded(symbols, returned, names, static)}


def unneeded(symbols, returned, names, static):
    """Returns the guards for whose excluded sizes the fake returns similar results, and that reject none."""
    found, needed = [], set()
    for guard, place in dict.fromkeys(symbols.asked):
        breaking = symbols.breaking(guard)
        if breaking and place and shape_of(returned(breaking[0])) == shape_of(static):
            argument, _ = symbols.names[min(guard.free_symbols & symbols.names.keys(), key=str)]
            fault = {"argument": names.index(argument), "text": symbols.spelt(guard), "at": place}
            found.append(fault | {"other": symbols.like(breaking[0])})
        if any(returned(sizes).get("refuses") for sizes in breaking[:TRIED]):
            needed.add(place)
    return [guard for guard in found if guard["at"] not in needed]
