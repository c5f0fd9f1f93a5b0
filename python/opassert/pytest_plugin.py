"""pytest --opassert: each test fails for the faults of the ops that it called.

pytest continues in a fork, and its process becomes `opassert run`, which loads a watcher into the fork and into each
process that it starts. Nothing imports PyTorch before the tests do. Each pytest imports this module, also one that is
too old to be watched.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from importlib.metadata import version
from shlex import join
from typing import Any, NoReturn

import pytest

from . import command, process
from .checking import OpReport
from .findings import OpassertError, watcher

LEVELS = "identity", "content", "meta"
FAIL = "error", "warn", "strict"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("opassert", "opassert: check each op that tests call against its schema")
    group.addoption("--opassert", action="store_true", default=None, help="watch the ops that tests call")
    group.addoption("--no-opassert", action="store_false", dest="opassert", help="do not, whatever the settings say")
    group.addoption("--opassert-level", choices=LEVELS, metavar="LEVEL", help="how much is checked: identity, content or meta")
    group.addoption("--opassert-allow", action="append", default=[], metavar="FILE", help="an allowlist, or a preset; may be given several times")
    group.addoption("--opassert-baseline", metavar="FILE", help="findings that are known, and fail no test")
    group.addoption("--opassert-fail", choices=FAIL, metavar="HOW", help="error (the default), warn, or strict: for notes too")
    parser.addini("opassert", "watch the ops that tests call", type="bool", default=False)
    parser.addini("opassert_level", "how much is checked", default="")
    parser.addini("opassert_allow", "allowlists", type="args", default=[])
    parser.addini("opassert_baseline", "findings that are known", default="")
    parser.addini("opassert_fail", "error, warn or strict", default="error")


class Settings:
    """The value of the command line, or else of the file of settings."""

    def __init__(self, options: Any, getini: Callable[[str], Any]) -> None:
        self.on = getini("opassert") if options.opassert is None else options.opassert
        self.level = options.opassert_level or getini("opassert_level")
        self.allow = options.opassert_allow or getini("opassert_allow")
        self.baseline = options.opassert_baseline or getini("opassert_baseline")
        self.fail = options.opassert_fail or getini("opassert_fail")
        for name, value, values in (("level", self.level, ("",) + LEVELS), ("fail", self.fail, FAIL)):
            if value not in values:
                raise pytest.UsageError("opassert_%s: unknown value %r: want %s" % (name, value, " or ".join(filter(None, values))))

    def flags(self) -> list[str]:
        flags = ["-level=" + self.level] if self.level else []
        flags += ["-allow=" + a for a in self.allow] + ["-strict"] * (self.fail == "strict")
        return flags + (["-baseline=" + self.baseline] if self.baseline else [])


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, Any, Any]:
    # Before pytest captures output, and before anything imports PyTorch.
    settings = Settings(early_config.known_args_namespace, early_config.getini)
    if settings.on and watcher() is None:
        enter(early_config, settings)
    yield


LEAST = {"pytest": (7, 0), "pluggy": (1, 2)}


def enter(config: pytest.Config, settings: Settings) -> None:
    """Becomes a process that opassert run watches."""
    if sys.platform != "linux":
        raise pytest.UsageError("--opassert: programs are watched on Linux only")
    for name, least in LEAST.items():
        if tuple(map(int, version(name).split(".")[:2])) < least:
            raise pytest.UsageError("--opassert: %s %s is too old: install %d.%d or a newer one" % (name, version(name), *least))
    try:
        opassert = command.path()
    except FileNotFoundError as error:
        raise pytest.UsageError("--opassert: %s" % error)
    run = [opassert, "run", *settings.flags()]
    program = ["--", sys.executable, *sys.orig_argv[1:]]
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if not process.can_fork():
        restart(config, run + program)
    try:
        process.fork(run, program)
    except OSError as error:
        raise pytest.UsageError("--opassert: %s; opassert doctor says more" % error)


def restart(config: pytest.Config, run: list[str]) -> NoReturn:
    """Replaces this process with the same under opassert run."""
    if list(config.invocation_params.args) != sys.argv[1:]:
        raise pytest.UsageError("--opassert: this process was not started as pytest: start it with opassert run -- %s" % join(sys.orig_argv))
    if os.environ.get("OPASSERT_PYTEST") == str(os.getppid()):
        raise pytest.UsageError("--opassert: nothing could be loaded into pytest; opassert doctor says more")
    os.environ["OPASSERT_PYTEST"] = str(os.getpid())
    os.execv(run[0], run)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Makes the message of an OpassertError one line; all its reports are in the text."""
    report = (yield).get_result()
    error, crash = getattr(call.excinfo, "value", None), getattr(report.longrepr, "reprcrash", None)
    if isinstance(error, OpassertError) and crash:
        crash.message = str(error).partition("\n")[0]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Collects the ops of opassert.parametrize whose tests are selected."""
    for item in session.items:
        for value in getattr(item, "callspec", session).__dict__.get("params", {}).values():
            if isinstance(value, OpReport):
                value.batch.selected.add(value.op)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "opassert(*allow, off=False): findings of these checks, symptoms or ops, such as 'OA009', 'OA009/state' or 'mylib::op', do not fail the test; with off none does")
    settings = Settings(config.option, config.getini)
    # Failures of a pytest inside a test belong to that test.
    now = watcher()
    if settings.on and now and not now.now[0]:
        from .pytest_watch import Plugin

        os.environ.pop("OPASSERT_PYTEST", None)
        config.pluginmanager.register(Plugin(config, settings, now), "opassert-watch")
