"""The conditions that a kernel found broken when it raised, from its source: they say more than messages do."""

import ast
import functools
import re

OPPOSITE = {ast.Eq: ast.NotEq, ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.In: ast.NotIn, ast.Is: ast.IsNot}
OPPOSITE |= {b: a for a, b in OPPOSITE.items()}
FRAME = re.compile(r"^ +(.+)\((\d+)\): ", re.MULTILINE)  # of pybind11, the innermost first


@functools.lru_cache(64)
def parsed(file):
    with open(file, encoding="utf-8", errors="replace") as source:
        tree = ast.parse(source.read())
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node
    return tree


def apart(test):
    """Returns a comparison of many as those of two."""
    if not isinstance(test, ast.Compare) or len(test.ops) == 1:
        return test
    terms = [test.left, *test.comparators]
    return ast.BoolOp(ast.And(), [ast.Compare(a, [op], [b]) for a, op, b in zip(terms, test.ops, terms[1:])])


def denied(test):
    """Returns what holds where a test does not."""
    test = apart(test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.BoolOp):
        return ast.BoolOp(ast.And() if isinstance(test.op, ast.Or) else ast.Or(), [denied(v) for v in test.values])
    if isinstance(test, ast.Compare):
        return ast.Compare(test.left, [OPPOSITE[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


class Spelled(ast.NodeTransformer):
    """Replaces variables by what was assigned to them, and comparisons of many by those of two."""

    def __init__(self, assigned):
        self.assigned = assigned

    def visit_Name(self, node):
        return self.assigned.get(node.id, node)

    def visit_Compare(self, node):
        self.generic_visit(node)
        return apart(node)


def assignments(function, line):
    """Returns what variables stand for, above a line."""
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


def within(node, line):
    return node.lineno <= line <= node.end_lineno


def broken(tree, line):
    """Returns the condition that a line, which raised, asks for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and within(node, line):
            return node, node.test
        if isinstance(node, ast.Raise) and within(node, line) and isinstance(node.parent, ast.If):
            return node, node.parent.test if node in node.parent.orelse else denied(node.parent.test)
        if isinstance(node, ast.Call) and within(node, line) and getattr(node.func, "attr", "").startswith("_check") and node.args:
            return node, node.args[0]
    return None, None


def ranked(tree, line):
    """Returns the number of dimensions that a line asks for: it takes a shape apart, or numbers dimensions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and within(node, line) and isinstance(node.targets[0], ast.Tuple) and getattr(node.value, "attr", "") == "shape":
            return node, ast.parse(f"{ast.unparse(node.value.value)}.ndim == {len(node.targets[0].elts)}", mode="eval").body
        if isinstance(node, ast.Call) and within(node, line) and getattr(node.func, "attr", "") == "permute":
            return node, ast.parse(f"{ast.unparse(node.func.value)}.ndim == {len(node.args)}", mode="eval").body
        at = node.slice if isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape" else None
        if at is not None and within(node, line) and isinstance(at, ast.Constant) and isinstance(at.value, int):
            return node, ast.parse(f"{ast.unparse(node.value.value)}.ndim > {at.value}", mode="eval").body
    return None, None


def condition(file, line):
    node, test = broken(parsed(file), line)
    if test is None:
        node, test = ranked(parsed(file), line)
    if test is None:
        return ""
    function = node
    while not isinstance(function, (ast.FunctionDef, ast.Module)):
        function = function.parent
    spelled = Spelled(assignments(function, node.lineno))
    copy = ast.parse(ast.unparse(test), mode="eval").body
    return ast.unparse(ast.fix_missing_locations(spelled.visit(copy)))


def asked(message):
    """Returns the condition that the kernel asks for which raised an exception with this message."""
    for file, line in FRAME.findall(message.partition("At:\n")[2]):
        if not file.startswith((ROOT, "<")):
            try:
                return condition(file, int(line))
            except Exception:  # no source, or none that can be read
                return ""
    return ""


LENT["asked(str message) -> str"] = asked
