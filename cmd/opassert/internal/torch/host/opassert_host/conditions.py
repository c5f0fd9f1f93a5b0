"""The failed conditions of a kernel that raised, from its source: they say more than messages."""

import ast
import copy
import functools
import itertools
import re
import sys

import torch

from .places import NOT_USERS
from .state import state

OPPOSITE = {ast.Eq: ast.NotEq, ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.In: ast.NotIn, ast.Is: ast.IsNot}
OPPOSITE |= {b: a for a, b in OPPOSITE.items()}
FRAME = re.compile(r"^ +(.+)\((\d+)\): (\w+)", re.MULTILINE)  # of pybind11, the innermost first


@functools.lru_cache(64)
def parsed(file):
    with open(file, encoding="utf-8", errors="replace") as source:
        return ast.parse(source.read())


def at(tree, line, kind):
    """Yields the nodes of a kind that a line is part of, outer ones first."""
    for node in ast.walk(tree):
        if isinstance(node, kind) and hasattr(node, "lineno") and node.lineno <= line <= node.end_lineno:
            yield node


def apart(test):
    """Returns a chained comparison as comparisons of two."""
    if not isinstance(test, ast.Compare) or len(test.ops) == 1:
        return test
    terms = [test.left, *test.comparators]
    return ast.BoolOp(ast.And(), [ast.Compare(a, [op], [b]) for a, op, b in zip(terms, test.ops, terms[1:])])


def denied(test):
    """Returns the negation of a test."""
    test = apart(test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.BoolOp):
        return ast.BoolOp(ast.And() if isinstance(test.op, ast.Or) else ast.Or(), [denied(v) for v in test.values])
    if isinstance(test, ast.Compare):
        return ast.Compare(test.left, [OPPOSITE[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def assignments(function, line):
    """Returns the expressions of variables, above a line."""
    found = {}
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or node.lineno >= line or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if isinstance(target, ast.Name):
            found[target.id] = node.value
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            starred = [i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)]
            for i, e in enumerate(target.elts):
                at = i - len(target.elts) if starred and i > starred[0] else i
                if isinstance(e, ast.Name):
                    found[e.id] = ast.Subscript(node.value, ast.Constant(at), ast.Load())
    return found


def broken(tree, line):
    """Returns the condition of a line that raised, or None."""
    raised = list(at(tree, line, ast.Raise))
    for node in at(tree, line, (ast.Assert, ast.If, ast.Call)):
        if isinstance(node, ast.Assert):
            return node.test
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "").startswith("_check") and node.args:
            return node.args[0]
        if isinstance(node, ast.If) and any(r in node.body for r in raised):
            return denied(node.test)
        if isinstance(node, ast.If) and any(r in node.orelse for r in raised):
            return node.test


def ranks(tree, line):
    """Yields conditions on numbers of dimensions in a line: it unpacks a shape, or indexes dimensions."""
    for node in at(tree, line, (ast.Assign, ast.Call, ast.Subscript)):
        of = getattr(node, "func", node)
        name, value = getattr(of, "attr", ""), getattr(of, "value", None)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and getattr(node.value, "attr", "") == "shape":
            yield f"{ast.unparse(node.value.value)}.ndim == {len(node.targets[0].elts)}"
        elif isinstance(node, ast.Call) and name == "permute":
            yield f"{ast.unparse(value)}.ndim == {len(node.args)}"
        elif isinstance(node, ast.Call) and name in ("size", "stride", "transpose", "unbind", "select", "narrow"):
            yield from (f"{ast.unparse(value)}.ndim > {a.value}" for a in node.args[: 1 + (name == "transpose")] if isinstance(getattr(a, "value", None), int))
        elif isinstance(node, ast.Subscript) and getattr(value, "attr", "") == "shape" and isinstance(getattr(node.slice, "value", None), int):
            yield f"{ast.unparse(value.value)}.ndim > {node.slice.value}"
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and not any(getattr(e, "value", 0) in (None, ...) for e in node.slice.elts):
            yield f"{ast.unparse(value)}.ndim >= {len(node.slice.elts)}"


def named(tree, line):
    """Returns the innermost statement of a line if it is an expression, or else the names in it."""
    innermost = [n for n in at(tree, line, ast.stmt) if not hasattr(n, "body")]
    statement = max(innermost, key=lambda n: n.lineno, default=ast.Pass())
    names = sorted({n.id for n in ast.walk(statement) if isinstance(n, ast.Name)})
    return statement.value if isinstance(statement, ast.Expr) else ast.Tuple([ast.Name(n) for n in names])


class Bound(ast.NodeTransformer):
    """Replaces the variables of a function by their expressions."""

    def __init__(self, means):
        self.means = means

    def visit_Name(self, node):
        return copy.deepcopy(self.means.get(node.id, node))

    def visit_Compare(self, node):
        self.generic_visit(node)
        return apart(node)


def passed(tree, line, function):
    """Returns the expressions that a line passes for the parameters of a function that it calls."""
    takes = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    for node in at(tree, line, ast.Call):
        if function.name in (getattr(node.func, "id", ""), getattr(node.func, "attr", "")):
            return dict(zip(takes, node.args)) | {k.arg: k.value for k in node.keywords if k.arg}
    return {}


PREDICATES = {"all", "any", "bool", "int", "len", "max", "min", "set", "str", "tuple"}
PREDICATES |= {"torch." + n for n in ("can_cast", "finfo", "iinfo", "is_complex", "is_floating_point", "promote_types")}


def harmless(condition, scope):
    """Reports whether evaluating a condition calls no function of the package, which could have effects."""
    nodes = list(ast.walk(condition))
    called = {ast.unparse(n.func) for n in nodes if isinstance(n, ast.Call)}
    if not called <= PREDICATES - scope.keys() or scope.get("torch", torch) is not torch:
        return False
    try:
        tables = [eval(ast.unparse(n.value), {"__builtins__": {}}, scope) for n in nodes if isinstance(n, ast.Subscript)]
    except Exception:  # the indexed object has no name in the module
        return False
    return all(type(t) in (dict, list, tuple) for t in tables)


def fitting(condition, scope):
    """Returns dtypes that satisfy a condition on dtypes, or that a table has; other conditions unchanged."""
    terms = sorted({ast.unparse(n) for n in ast.walk(condition) if isinstance(n, ast.Attribute) and n.attr == "dtype"})
    text, looked = ast.unparse(condition), isinstance(condition, ast.Subscript)
    for i, term in enumerate(terms):
        text = text.replace(term, f"dtype{i}")
    for dtypes in itertools.product(DTYPES, repeat=len(terms)) if 0 < len(terms) < 3 and harmless(condition, scope) else ():
        try:
            if eval(text, scope, {f"dtype{i}": d for i, d in enumerate(dtypes)}) or looked:
                return " and ".join(f"{t} == {d}" for t, d in zip(terms, dtypes))
        except Exception:  # such as a missing key
            continue
    return ast.unparse(condition)


DTYPES = [torch.float32, torch.float64, torch.int64, torch.int32, torch.float16, torch.bfloat16, torch.uint8, torch.int8, torch.bool, torch.int16]


@functools.lru_cache(1024)
def wanted(frames):
    """Returns the failed condition of a kernel in terms of its arguments; frames are the innermost first."""
    (file, line, _), scope = frames[0], {}
    tree, called = parsed(file), None
    test = broken(tree, line)
    tables = [n for n in at(tree, line, ast.Subscript) if getattr(n.slice, "attr", "") == "dtype"]
    dims = [ast.parse(text, mode="eval").body for text in ranks(tree, line)]
    asks = copy.deepcopy([test] if test else [*dims, *tables] or [named(tree, line)])
    for file, line, _ in frames:
        tree = parsed(file)
        function = [tree, *at(tree, line, ast.FunctionDef)][-1]
        scope |= next((vars(m) for m in list(sys.modules.values()) if getattr(m, "__file__", None) == file), {})
        for means in (passed(tree, line, called) if called else {}, assignments(function, line)):
            asks = [Bound(means).visit(a) for a in asks]
        called = function if isinstance(function, ast.FunctionDef) else None
    return " and ".join(dict.fromkeys(fitting(a, scope) for a in asks))


def asked(message):
    """Returns the condition of the kernel that raised an exception with this message."""
    frames = [(f, int(line), of) for f, line, of in FRAME.findall(message.partition("At:\n")[2])]
    own = itertools.dropwhile(lambda f: f[0].startswith(NOT_USERS), frames)
    own = tuple(itertools.takewhile(lambda f: not f[0].startswith(NOT_USERS), own))
    if message.startswith("SystemExit") and own:
        state.said.append(f"it raised SystemExit, which ends the program, at {own[0][0]}:{own[0][1]}")
    try:
        return wanted(own)
    except Exception:  # no readable source
        return ""
