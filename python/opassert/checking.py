"""What the command finds out about ops, for tests and notebooks."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from . import command
from .findings import Finding, OpassertError, html_of, watcher
from .watching import watch

if TYPE_CHECKING:
    import pytest
    from torch._library.custom_ops import CustomOpDef
    from torch._ops import OpOverload, OpOverloadPacket

    Op = Union[OpOverload[..., Any], OpOverloadPacket[..., Any], CustomOpDef]
Row = dict[str, Any]
Case = Union[Mapping[str, Any], Sequence[Any]]

# The names of the ops that a module registers, in another process: this one may have imported it.
LIST = """import importlib, os, sys, torch
out, names = os.dup(1), torch._C._dispatch_get_all_op_names
os.dup2(2, 1)
before = set(names())
importlib.import_module(sys.argv[1])
os.write(out, "\\n".join(sorted(set(names()) - before)).encode())
"""


class Report:
    """What was found: a notebook shows it.

    findings are all, errors those that are wrong, notes those that are debatable; rows are what
    `opassert check -json` writes, as opassert help json has it.
    """

    def __init__(self, rows: Callable[[], list[Row]]) -> None:
        self._rows = rows

    @functools.cached_property
    def rows(self) -> list[Row]:
        return self._rows()

    @functools.cached_property
    def findings(self) -> list[Finding]:
        return [found(row) for row in self.rows if row["status"] in FOUND]

    @property
    def errors(self) -> list[Finding]:
        return [f for f in self.findings if f.status != "noted"]

    @property
    def notes(self) -> list[Finding]:
        return [f for f in self.findings if f.status == "noted"]

    def raise_for_errors(self) -> None:
        """Raises OpassertError if there are errors."""
        __tracebackhide__ = True
        if self.errors:
            raise OpassertError(self.errors)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.findings)) or "no findings"

    def _repr_html_(self) -> str:
        return html_of(self.findings)


MOST = 64  # elements of a tensor that are written
FOUND = "violated", "noted", "crashed", "failed"


def found(row: Row) -> Finding:
    """Returns the finding of a row of check, or of lint."""
    text = row.get("text") or "%(op)s: %(reason)s" % row
    return Finding(row.get("code", ""), row["op"], text.split("\n")[0], text, row.get("count", 1), status=row["status"], row=row)


def check(module: str, *, ops: Iterable[str] = (), flags: Iterable[str] = ()) -> Report:
    """Calls each op that a module registers, on arguments that are made from its schema.

    ops are names or patterns, such as "mypackage::*norm"; flags others of `opassert check`, such as "-device=cuda".
    The module is imported by other processes, from this one's sys.path. RuntimeError is raised where
    nothing was checked, FileNotFoundError where the command is missing.

        def test_ops():
            opassert.check("mypackage").raise_for_errors()
    """
    return report("check", "-module=" + module, *("-op=" + op for op in ops), *flags)


def check_op(op: Op | str, *, cases: Iterable[Case] = (), module: str = "", flags: Iterable[str] = ()) -> Report:
    """Calls an op, such as torch.ops.mypackage.scale, as check does.

    cases are calls that it starts from: arguments by name, or in their order. One is a tensor, a number, or a
    text in the language of opassert help cases, such as "t[2, 3]". module is the one that registers
    the op; it is found where that is written in Python, and ValueError raised where it is not.

        opassert.check_op(torch.ops.mypackage.scale, cases=[(torch.ones(3), 2.0)]).raise_for_errors()
    """
    name = op if isinstance(op, str) else name_of(op)
    flags = ["-module=" + (module or module_of(name)), "-op=" + name, *flags]
    with tempfile.TemporaryDirectory() as folder:
        written = [recipe(case) for case in cases]
        if written:
            file = os.path.join(folder, "cases.yaml")
            with open(file, "w") as f:
                json.dump([{"ops": [name], "cases": written}], f)
            flags.append("-cases=" + file)
        return report("check", *flags)


def lint(module: str, *, flags: Iterable[str] = ()) -> Report:
    """Compares what a module registers with its schemas, and calls no op.

        opassert.lint("mypackage").raise_for_errors()
    """
    return report("lint", "-module=" + module, *flags)


def parametrize(module: str, *, ops: Iterable[str] = ("*",), flags: Iterable[str] = ()) -> pytest.MarkDecorator:
    """Makes each op that a module registers a test of its own, whose argument report has what check found.

    An op that never ran is a RuntimeError. The ops of the selected tests are checked together, when the first test
    needs its report; in a process of pytest-xdist each alone.

        @opassert.parametrize("mypackage")
        def test_op(report):
            report.raise_for_errors()
    """
    import pytest

    chosen = list(ops)
    batch = Batch(module, tuple(flags))
    names = [name for name in registered(module) if any(fnmatch.fnmatchcase(name, pattern) for pattern in chosen)]
    return pytest.mark.parametrize("report", [pytest.param(OpReport(batch, name), id=name) for name in names])


class OpReport(Report):
    """The part of a batch that is about one op."""

    def __init__(self, batch: Batch, op: str) -> None:
        super().__init__(lambda: batch.rows_of(op))
        self.batch, self.op = batch, op


class Batch:
    """Ops that are checked together: those whose tests pytest has selected."""

    def __init__(self, module: str, flags: tuple[str, ...]) -> None:
        self.module, self.flags = module, flags
        self.selected: set[str] = set()

    @functools.cache  # noqa: B019
    def rows(self, ops: tuple[str, ...]) -> list[Row]:
        return check(self.module, ops=ops, flags=self.flags).rows

    def rows_of(self, op: str) -> list[Row]:
        alone = "PYTEST_XDIST_WORKER" in os.environ
        rows = self.rows((op,) if alone else tuple(sorted({op, *self.selected})))
        own = [row for row in rows if row.get("op") == op]
        if not any(row["status"] in ("passed", *FOUND) for row in own):
            raise RuntimeError("%s never ran: %s" % (op, "; ".join(row.get("reason", "") for row in own)))
        return own


def report(*arguments: str) -> Report:
    """Returns what a command of opassert writes as JSON."""
    done = run(command.path(), *arguments, "-json", "-python=" + sys.executable)
    if done.returncode > 1:  # it prints why behind what modules print
        raise RuntimeError(re.sub(r"\A.*?^(?=opassert %s: )" % arguments[0], "", done.stderr, flags=re.M | re.S).strip())
    rows = json.loads(done.stdout)
    return Report(lambda: rows)


@functools.cache
def registered(module: str) -> list[str]:
    """Returns the names of the ops that a module registers."""
    done = run(sys.executable, "-c", LIST, module)
    names = done.stdout.split()
    if done.returncode or not names:
        raise RuntimeError("%s registers no ops: %s" % (module, done.stderr.strip()))
    return names


def run(*program: str) -> subprocess.CompletedProcess[str]:
    """Runs a program for which Python looks for modules where this process does."""
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    # What the calls of a check show is no finding of the process that starts it, if that is watched.
    with watch("opassert.check") if watcher() else contextlib.nullcontext():
        return subprocess.run(program, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)


def name_of(op: Any) -> str:
    """Returns the name of an op of torch.ops, or of what torch.library.custom_op returns."""
    for attribute in "_qualname", "_qualified_op_name", "_name":
        if isinstance(getattr(op, attribute, None), str):
            return str(getattr(op, attribute))
    raise TypeError("%r is no op: want one of torch.ops, or what torch.library.custom_op returns" % (op,))


def module_of(op: str) -> str:
    """Returns the name of the module that registers an op in Python."""
    import torch
    from torch._library.custom_ops import OPDEFS

    custom = OPDEFS.get(op)
    if custom:
        name = custom._init_fn.__module__
    else:
        place = re.search(r"^debug: registered at (.*):\d+$", torch._C._dispatch_dump(op), re.M)
        known = {getattr(module, "__file__", None): name for name, module in list(sys.modules.items())}
        name = known.get(place[1] if place else "", "__main__")
    if name == "__main__" or name.partition(".")[0] == "torch":  # torch.library.define
        raise ValueError("%s is registered by no module that another process could import: name one with module=" % op)
    return str(name)


def recipe(case: Case) -> dict[str, str]:
    """Returns a call as a file of cases has it."""
    named = case.items() if isinstance(case, Mapping) else (("_%d" % i, value) for i, value in enumerate(case))
    return {name: written(value) for name, value in named}


def written(value: Any) -> str:
    """Returns a value in the language of a file of cases."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return ("[%s]" if isinstance(value, list) else "(%s)") % ", ".join(map(written, value))
    if hasattr(value, "new_empty"):  # a tensor
        elements = " = %s" % value.flatten().tolist() if value.numel() <= MOST and value.dtype.is_floating_point else ""
        return "%s%s%s" % (str(value.dtype).partition(".")[2], list(value.shape), elements)
    if type(value).__module__ == "torch":  # a dtype, a device, a layout
        return "%s:%s" % (type(value).__name__, str(value).replace("torch.", ""))
    return str(value).lower() if value is None or isinstance(value, bool) else repr(value)
