"""The texts in the source of kernels that arguments of type str are compared with."""

import enum
import inspect
import json
import types

from .parameters import defaults_beyond, defaults_unlike, places_of, signature, spelt
from .places import ROOT
from .registrations import enclosed, overload, registered, site, written

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


def other_defaults(kernel, arguments):
    """Yields how the defaults of a kernel differ from those of a schema."""
    takes, (file, line) = signature(kernel), site(kernel)
    places = places_of(takes, arguments) if takes and file else {}
    for symptom, said in ("", defaults_unlike(places, arguments)), ("default", defaults_beyond(places, arguments)):
        for argument, saw in said:
            yield {"Argument": argument, "Saw": saw, "Fix": f"write {spelt(arguments)}, or the default into the schema", "Symptom": symptom, "File": file, "Line": line}


def registration(op):
    """Returns facts about an op from its source: texts, decomposition and other defaults."""
    kernels = registered.kernels(op)
    found = list(dict.fromkeys(t for k in kernels for t in texts(written(k), set())))
    schema = overload(op)
    faults = [fault for k in kernels for fault in other_defaults(k, schema._schema.arguments)] if schema else []
    return json.dumps({"Texts": found[:MOST_TEXTS], "Decomposes": op in registered.decomposing, "Faults": faults})
