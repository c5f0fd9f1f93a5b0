"""The parameters of registered functions, compared with the arguments of schemas."""

import inspect

from .registrations import written

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def parameters(function):
    """Returns the parameters of a function, None if they are not known; of an object, or functools.partial, the remaining ones."""
    try:
        return list(inspect.signature(written(function) if inspect.isroutine(function) else function).parameters.values())
    except (TypeError, ValueError):
        return None


def spelt(arguments, before=()):
    """Returns the text of the parameters of a kernel for a schema's arguments."""
    words, keyword = list(before), False
    for a in arguments:
        if a.kwarg_only and not keyword:
            words.append("*")
            keyword = True
        words.append(f"{a.name}={a.default_value!r}" if a.has_default_value() else a.name)
    return "(" + ", ".join(words) + ")"


def places_of(takes, arguments, before=0):
    """Returns the parameter of an argument, by name, after a number of others."""
    by_position = [p for p in takes if p.kind in POSITIONAL][before:]
    named = {p.name: p for p in takes if p.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)}
    places = dict(zip((a.name for a in arguments if not a.kwarg_only), by_position))
    return places | {a.name: named[a.name] for a in arguments if a.kwarg_only and a.name in named}


def faults_of(takes, arguments, before=0):
    """Yields how parameters do not accept a schema's arguments, after a number of others.

    The dispatcher passes arguments by position, those after * by name, and leaves out trailing ones that have their defaults.
    """
    by_position = [p for p in takes if p.kind in POSITIONAL]
    kinds = {p.kind for p in takes}
    positional, keyword = [a for a in arguments if not a.kwarg_only], [a for a in arguments if a.kwarg_only]
    most = before + len(positional)
    places = places_of(takes, arguments, before)
    if len(by_position) < most and inspect.Parameter.VAR_POSITIONAL not in kinds:
        yield f"it takes {len(by_position)} by position, and is passed {most}"
        return
    for p in by_position[most:]:
        if p.default is p.empty and p.name not in {a.name for a in keyword}:
            yield f"it needs {p.name}, which the schema does not have"
    for p in takes:
        if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name not in {a.name for a in keyword}:
            yield f"it needs {p.name} by name, which the schema passes by position"
    for a in keyword:
        if a.name not in places and inspect.Parameter.VAR_KEYWORD not in kinds:
            yield f"it does not take {a.name}, which the schema passes by name"
    names = [a.name for a in positional]
    if moved := [(p.name, a) for a, p in places.items() if p.name != a and p.name in names]:
        yield "its {} is in the position of the schema's {}".format(*moved[0])
    yield from (fault for _, fault in defaults_unlike(places, arguments))


def defaults_unlike(places, arguments):
    """Yields the arguments whose defaults differ from those of their parameters, and how."""
    for a in arguments:
        p = places.get(a.name)
        if p and a.has_default_value():
            if p.default is p.empty:
                yield a.name, f"its {p.name} has no default, and the schema's {a.name}={a.default_value!r} is left out of calls"
            elif not same(p.default, a.default_value):
                yield a.name, f"its {p.name}={p.default!r} is not the schema's {a.name}={a.default_value!r}"


def defaults_beyond(places, arguments):
    """Yields the arguments without a default whose parameters have one."""
    for a in arguments:
        p = places.get(a.name)
        if p and not a.has_default_value() and p.default is not p.empty:
            yield a.name, f"its {p.name}={p.default!r} is not in the schema: calls of the op without {a.name} are refused"


def same(ours, schemas):
    """Reports whether a default is the schema's, also as another type, such as a dtype or a device."""
    plain = (int, float, bool, str, type(None))
    if isinstance(ours, (list, tuple)) and isinstance(schemas, (list, tuple)):
        return len(ours) == len(schemas) and all(map(same, ours, schemas))
    return not isinstance(ours, plain) or not isinstance(schemas, plain) or ours == schemas
