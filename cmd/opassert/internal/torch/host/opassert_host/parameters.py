"""The parameters of registered functions, compared with the arguments of schemas."""

import inspect

from .registrations import written

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def signature(function):
    """Returns the signature of a function, None if it is not known; of an object or a partial without what they pass."""
    try:
        return inspect.signature(written(function) if inspect.isroutine(function) else function)
    except (TypeError, ValueError):
        return None


def refusal(signature, *args, **keywords):
    """Returns why a signature does not accept arguments, "" if it does."""
    try:
        signature.bind(*args, **keywords)
    except TypeError as error:
        return str(error)
    return ""


def spelt(arguments, before=()):
    """Returns the text of the parameters of a kernel for a schema's arguments."""
    words = list(before)
    for a in arguments:
        if a.kwarg_only and "*" not in words:
            words.append("*")
        words.append(f"{a.name}={a.default_value!r}" if a.has_default_value() else a.name)
    return "(" + ", ".join(words) + ")"


def places_of(signature, arguments, before=0):
    """Returns the parameter of an argument, by name, after a number of others."""
    named = signature.parameters
    by_position = [p for p in named.values() if p.kind in POSITIONAL][before:]
    places = dict(zip((a.name for a in arguments if not a.kwarg_only), by_position))
    return places | {a.name: named[a.name] for a in arguments if a.kwarg_only and a.name in named}


def faults_of(signature, arguments, before=0):
    """Yields how a signature does not accept a schema's arguments, after a number of others.

    The dispatcher passes arguments by position, those after * by name, and leaves out trailing ones with their defaults.
    """
    positional = [a.name for a in arguments if not a.kwarg_only]
    if why := refusal(signature, *range(before), *positional, **{a.name: None for a in arguments if a.kwarg_only}):
        yield why
        return
    places = places_of(signature, arguments, before)
    if moved := [(p.name, a) for a, p in places.items() if p.name != a and p.name in positional]:
        yield "its {} is in the position of the schema's {}".format(*moved[0])
    for a in arguments:
        p = places.get(a.name)
        if p and a.has_default_value():
            if p.default is p.empty:
                yield f"its {p.name} has no default, and the schema's {a.name}={a.default_value!r} is left out of calls"
            elif not same(p.default, a.default_value):
                yield f"its {p.name}={p.default!r} is not the schema's {a.name}={a.default_value!r}"


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
