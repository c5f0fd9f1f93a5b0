"""The texts in the source of kernels that arguments of type str are compared with."""

import enum
import inspect
import json
import types

from .places import ROOT
from .registrations import enclosed, registered, written
from .signatures import faults

MOST_TEXTS = 512


def texts(value, seen):
    """Yields the texts in a value; of a function, those in its code and in the globals that it uses."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (tuple, list)):
        yield from (t for v in value for t in texts(v, seen))
    elif isinstance(value, (dict, set, frozenset)):
        yield from sorted(v for v in value if isinstance(v, str))
    elif isinstance(value, enum.EnumMeta):
        yield from texts([member.value for member in value], seen)
    elif isinstance(value, types.CodeType):
        yield from texts(value.co_consts, seen)
    elif inspect.isfunction(value) and value not in seen and not value.__code__.co_filename.startswith(ROOT):
        seen.add(value)
        yield from texts(value.__code__, seen)
        for named in (*enclosed(value), *(value.__globals__.get(n) for n in value.__code__.co_names)):
            yield from texts(named, seen)


def registration(op):
    """Returns facts about an op from its source: texts, decomposition and faults."""
    kernels = registered.kernels(op)
    found = list(dict.fromkeys(t for k in kernels for t in texts(written(k), set())))
    return json.dumps({"Texts": found[:MOST_TEXTS], "Decomposes": op in registered.decomposing, "Faults": faults(op)})
