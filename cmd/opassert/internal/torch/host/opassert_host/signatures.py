"""Faults of registrations: signatures that contradict the schemas, and functions that compilers need and miss."""

from . import load  # first: see there

# isort: split
import ast
import collections
import inspect
import json
import os
import textwrap

import torch
from torch._library.custom_ops import OPDEFS
from torch._library.utils import can_generate_trivial_fake_impl

from .parameters import defaults_beyond, faults_of, places_of, refusal, signature, spelt
from .places import ROOT
from .registrations import dispatched, is_written, overload, registered, site, written

found = []
looked = set()  # of what the functions are, for which op, and where they are written


def wrong(code, op, place, saw, fix, symptom="", argument=""):
    row = {"code": code, "op": op, "file": place[0], "line": place[1], "saw": saw, "fix": fix, "symptom": symptom, "argument": argument}
    if row not in found:  # as of a kernel that is registered twice
        found.append(row)


def returned(function):
    """Returns the number of values of each return of a function that is a tuple."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # such as of a lambda inside a call
        return []
    body = tree.body[0]
    if not isinstance(body, ast.FunctionDef):
        return []
    inner = {id(n) for f in ast.walk(body) if isinstance(f, (ast.FunctionDef, ast.Lambda)) and f is not body for n in ast.walk(f)}
    tuples = [n.value for n in ast.walk(body) if isinstance(n, ast.Return) and id(n) not in inner and isinstance(n.value, ast.Tuple)]
    return [t.elts for t in tuples if not any(isinstance(e, ast.Starred) for e in t.elts)]


def check_function(code, what, op, schema, function, before=()):
    """Compares a kernel, a fake, or a rule for vmap, which takes others first, with a schema."""
    takes, place, write = signature(function), site(function), f"write {spelt(schema.arguments, before)}"
    if takes is None or not place[0]:
        return
    looked.add((what.split()[0], op, place))
    for fault in faults_of(takes, schema.arguments, len(before)):
        wrong(code, op, place, f"the {what} does not accept the schema's arguments: {fault}", write)
    if before:
        return
    if code == "OA012":
        for argument, fault in defaults_beyond(places_of(takes, schema.arguments), schema.arguments):
            wrong(code, op, place, fault, f"{write}, or the default into the schema", symptom="default", argument=argument)
    want = len(schema.returns)
    for values in returned(written(function)):
        if want == 1 and str(schema.returns[0].type) == "Tensor" or want > 1 and len(values) != want:
            saw = f"the {what} returns {len(values)} values, and the schema {want}"
            wrong(code, op, place, saw, "return as many as the schema")


def check_autograd(op, schema, backward, setup):
    """Compares a formula for autograd with a schema: it has a gradient for each positional argument."""
    inputs = [a for a in schema.arguments if not a.kwarg_only]
    if takes := setup and signature(setup):
        names = ["ctx", "inputs", *["keyword_only_inputs"] * (len(inputs) < len(schema.arguments)), "output"]
        if refusal(takes, **dict.fromkeys(names)):
            said = f"setup_context takes ({', '.join(takes.parameters)}), and is passed {', '.join(names)} by name"
            wrong("OA014", op, site(setup), said, f"write ({', '.join(names)})")
    takes, place = signature(backward), site(backward)
    if takes is None or not place[0]:
        return
    looked.add(("formula", op, place))
    names = ["ctx", *(f"grad{i}" for i in range(len(schema.returns)))]
    if why := refusal(takes, *names):
        saw = f"backward does not accept ctx and {len(names) - 1} gradients, one for each return: {why}"
        wrong("OA014", op, place, saw, f"write ({', '.join(names)})")
    for values in returned(backward):
        extra = values[len(inputs):]
        if len(values) < len(inputs) or any(not (isinstance(e, ast.Constant) and e.value is None) for e in extra):
            saw = f"backward returns {len(values)} gradients, and the op has {len(inputs)} arguments"
            wrong("OA014", op, place, saw, "return one for each argument, None for those without")


def planned(name, op):
    """Reports whether an op has a fake, or a kernel that compilers use as one."""
    if registered.fake(name) or can_generate_trivial_fake_impl(op):
        return True
    keys = ("Meta", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
    return name not in OPDEFS and any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in keys)


def check_typed(name):
    """Compares the definitions of an op: if they differ, only one is in force."""
    (first, at), *others = registered.schemas.get(name, {}).items() or [(None, None)]
    for schema, place in others:
        effect = "replaces it" if schema == dispatched(name) else "is refused"
        wrong("OA012", name, place, f"its schema is typed twice, as {first}{f' ({at[0]}:{at[1]})' if at[0] else ''}, and here as {schema}, which {effect}", "define the op once, and import that")


def check_op(name):
    op = overload(name)
    if op is None:
        return
    schema, custom = op._schema, OPDEFS.get(name)
    place = registered.kernel(name)
    check_typed(name)
    functions, formula = registered.functions.get(name, {}), registered.formulas.get(name)
    if custom:
        functions = functions | custom._backend_fns | {"": custom._init_fn, "fake": custom._abstract_fn}
        if custom._vmap_fn:
            check_function("OA012", "rule for vmap", name, schema, custom._vmap_fn, ("info", "in_dims"))
    for key, function in functions.items():
        what = key if key == "fake" else f"kernel for {key}" if key else "kernel"
        check_function("OA011" if key == "fake" else "OA012", what, name, schema, function)
    if formula and formula._backward_fn:
        check_autograd(name, schema, formula._backward_fn, formula._setup_context_fn)
    if place[0] and not planned(name, op):
        wrong("OA011", name, place, "it has a kernel and no fake", f'register one, torch.library.register_fake("{name}"), which makes tensors of the kernel\'s sizes, strides and dtypes', symptom="no-fake")
    objects = any("__torch__" in str(a.type) for a in schema.arguments)
    lost = not schema.returns and not objects and name not in registered.decomposing
    if lost and not any(map(is_written, schema.arguments)):
        wrong("OA012", name, place, "it returns nothing and declares no write: compilers drop its calls", "declare what it writes, with mutates_args or (a!) in the schema; or return a tensor")


def faults(op):
    del found[:]
    check_op(op)
    return found


def main():
    added = registered.imported(load.load)
    for op in added():
        check_op(op)
    schemas = {op: (str(overload(op)._schema), *registered.kernel(op)) for op in added() if overload(op)}
    with open(os.environ["OPASSERT_ANSWER"], "w") as answer:
        json.dump({"found": [f for f in found if f["symptom"] != "default"], "looked": collections.Counter(what for what, _, place in looked if not place[0].startswith(ROOT)), "ops": [{"op": op, "schema": s, "file": f, "line": n} for op, (s, f, n) in schemas.items()]}, answer)
    os._exit(0)
