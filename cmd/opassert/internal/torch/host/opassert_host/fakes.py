"""The fakes of ops, which compilers call instead of kernels."""

import contextlib
import dis
import traceback

import torch
from torch._library.custom_ops import OPDEFS
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, is_fake
from torch.utils._pytree import tree_leaves, tree_map_only

from .dynamo_parts import import_parts
from .places import ROOT, text_of
from .registrations import is_written, registered

LARGE = 1 << 22  # elements
NAMESPACES = ("aten", "quantized", "sparse", "mkldnn", "nested")  # of PyTorch's own ops


def held(value):
    """Returns the tensors of an argument or a return; None stands for a missing one."""
    return [t for t in tree_leaves(value) if t is None or isinstance(t, torch.Tensor)]


def passed(schema, args, kwargs):
    """Returns the value of each argument of a call, None where it is left out."""
    return [args[i] if i < len(args) else kwargs.get(a.name) for i, a in enumerate(schema.arguments)]


def numbers(value):
    """Returns the numbers of a return, for JSON; None stands for a symbol. A float is text: JSON lacks some."""
    leaves, symbols = tree_leaves(value), (torch.SymInt, torch.SymFloat, torch.SymBool)
    known = [n for n in leaves if isinstance(n, (int, float, *symbols))]
    return [None if isinstance(n, symbols) else str(n) if isinstance(n, float) else n for n in known]


def reach(symbol):
    """Returns the least and the greatest value of a size; None stands for no bound.

    A symbol for the size of an argument has that size.
    """
    if isinstance(symbol, int):
        return [symbol, symbol]
    if symbol.node.has_hint():
        return [symbol.node.hint] * 2
    ends = symbol.node.shape_env.bound_sympy(symbol.node.expr)
    return [int(end) if end.is_Integer else None for end in (ends.lower, ends.upper)]


def described(tensor, sort=FakeTensor):
    """Returns the properties of a tensor that are compared, in a call on tensors of a class."""
    if tensor is None:
        return None
    plain = tensor.layout == torch.strided and isinstance(tensor, sort)  # the kernel's strides are not seen if a subclass holds other tensors
    return {
        "tensor": id(tensor),
        "storage": tensor.untyped_storage()._cdata if plain else 0,
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "device": str(tensor.device),
        "sizes": [reach(s) for s in tensor.shape] if plain else [],
        "strides": [s if isinstance(s, int) else None for s in tensor.stride()] if plain else [],
    }


def unlike(schema, values):
    """Returns how the results of a fake differ from a schema, "" if they don't."""
    returns = schema.returns
    if len(returns) == 0:
        return "" if values is None else f"returns {type(values).__name__}, and the schema nothing"
    if len(returns) > 1 and not isinstance(values, (tuple, list)):
        return f"returns {type(values).__name__}, and the schema {len(returns)} values"
    if len(returns) > 1 and len(values) != len(returns):
        return f"returns {len(values)} values, and the schema {len(returns)}"
    for r, v in zip(returns, [values] if len(returns) == 1 else values):
        if str(r.type) == "Tensor" and v is not None and not is_fake(v):
            return "returns a tensor that is not a FakeTensor" if isinstance(v, torch.Tensor) else f"returns {type(v).__name__}, and the schema a Tensor"
    return ""


def refuses(error):
    """Reports whether a check of a function that is not PyTorch's raised: torch._check, raise or assert."""
    at = error.__traceback__
    codes = [frame.f_code for frame, _ in traceback.walk_tb(at)]
    while at.tb_next:
        at = at.tb_next
    callers = [c for c in codes if not (c.co_filename.startswith(ROOT) and c.co_name.startswith("_check"))]
    return codes[-1].co_code[at.tb_lasti] == dis.opmap["RAISE_VARARGS"] and not callers[-1].co_filename.startswith(ROOT)


def real(fake):
    """Returns a tensor of zeros like a fake one."""
    if fake.numel() > LARGE:
        raise MemoryError
    return torch.empty_strided(fake.shape, fake.stride(), dtype=fake.dtype).zero_()


def refused_by(error):
    """Returns the first of PyTorch's ops in a fake whose own fake raised, and whose kernel accepts the arguments; or None.

    An error about unknown sizes or contents is not a fault.
    """
    if type(error).__module__.startswith(("torch._subclasses", "torch.fx")):
        return None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    calls = [frame.f_locals for frame in frames if frame.f_code is FakeTensorMode.dispatch.__code__]
    for call in [c for c in calls if c["func"].namespace == "aten"][:1]:
        with contextlib.suppress(Exception):
            args, kwargs = tree_map_only(FakeTensor, real, (call["args"], dict(call["kwargs"])))
            call["func"](*args, **kwargs)
            return call["func"].name()
    return None


def shaped(tensors):
    return [t and (t["sizes"], t["strides"]) for t in tensors]


def answered(function, args, kwargs, mode):
    """Calls the fake of an op, and describes its results."""
    name, schema = function.name(), function._schema
    given = passed(schema, args, kwargs)
    before = [[described(t) for t in held(v)] for v in given]
    place = registered.fake(name)
    answer = {"op": name, "site": place or ["", 0]}
    try:
        with mode:
            values = function(*args, **kwargs)
    except Exception as error:
        if function.namespace in NAMESPACES and type(error).__module__.startswith(("torch._subclasses", "torch.fx")):
            return answer | {"unknown": f"its fake does not return what depends on contents: {type(error).__name__}"}
        if function.namespace not in NAMESPACES and (theirs := refused_by(error)):
            return answer | {"unknown": f"the fake calls {theirs}, whose fake in PyTorch rejects arguments that its kernel accepts"}
        # Without a fake PyTorch calls a kernel for every device, such as a composite one.
        unregistered = place is None and (name.partition(".")[0] in OPDEFS or not torch._C._dispatch_has_kernel_for_dispatch_key(name, "Meta"))
        fault = {"fault": f"raises {text_of(error)}", "refuses": refuses(error)}
        return answer | ({"missing": True} if unregistered else fault)
    if fault := unlike(schema, values):
        return answer | {"fault": fault}
    return answer | outcome(schema, before, given, values, described)


def outcome(schema, before, given, values, describe):
    """Returns the arguments after a call, and its results."""
    after = [[describe(t) for t in held(v)] for v in given]
    writes = list(map(is_written, schema.arguments))
    for a, write, was, now in zip(schema.arguments, writes, before, after):
        if shaped(was) != shaped(now) and not write:
            return {"fault": f"leaves {a.name} with other sizes or strides than before, which the schema does not let it write"}
    written = [now if write else [] for write, now in zip(writes, after)]
    values = values if len(schema.returns) > 1 else [values] * len(schema.returns)
    return {"arguments": before, "written": written, "results": [[describe(t) for t in held(v)] for v in values], "numbers": numbers(values[: len(schema.returns)])}


def fake_mode(sizes=None):
    """Returns a mode for symbols, or for sizes that are numbers."""
    mode = FakeTensorMode(shape_env=sizes or import_parts().ShapeEnv())
    mode.cache_enabled = False
    return mode
