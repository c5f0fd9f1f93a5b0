"""The plugin around the tests of a process that is watched.

Before each phase of a test the watcher gets the test's name; after it, it returns the findings.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import warnings
from collections.abc import Generator, Iterator
from os import getpid  # tests may replace what they call of modules
from shlex import join, quote
from typing import Any

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from .findings import Finding, OpassertError, OpassertWarning, Watcher
from .pytest_plugin import Settings

Hook = Generator[None, Any, Any]


class Plugin:
    def __init__(self, config: pytest.Config, settings: Settings, watcher: Watcher) -> None:
        self.config = config
        self.warn = settings.fail == "warn"
        self.watcher = watcher
        self.flags = join(a for a in ("--opassert-level=" + settings.level,) if settings.level)
        self.process = getpid()
        self.item: pytest.Item | None = None  # the last one of this process
        self.items: dict[str, pytest.Item] = {}
        # What comes too late for its test, or is of none: (context, the test's node id and location, report).
        self.outside: list[tuple[str, Any, str]] = []
        self.watcher.enter("collection", self.again(""))

    def again(self, nodeid: str) -> str:
        group = nodeid.rfind("@")
        if group > max(nodeid.rfind("]"), nodeid.rfind("::")):  # of xdist's loadgroup, which pytest does not take
            nodeid = nodeid[:group]
        return " ".join(filter(None, ["pytest --opassert", self.flags, quote(nodeid) if nodeid else ""]))

    # A phase of a test.

    def forked(self) -> bool:
        """Reports whether this process is one of pytest-forked, which ends with its test."""
        return getpid() != self.process

    def found(self, item: pytest.Item, when: str) -> list[Finding]:
        """Ends a phase, and returns its findings."""
        if self.forked() and when == "teardown":
            self.watcher.call_fakes()
        context = "%s (%s)" % (item.nodeid, when)
        if when in NEXT:
            found = self.watcher.enter("%s (%s)" % (item.nodeid, NEXT[when]), self.again(item.nodeid))
        else:
            found = self.watcher.enter("between tests", self.again(""))
        own = [f for f in found if f.context == context or (self.forked() and when == "teardown")]
        self.late([f for f in found if f not in own])
        return [f for f in own if not allowed(item, f)]

    def late(self, found: list[Finding]) -> None:
        """Keeps findings that come too late for their test."""
        if self.forked():
            self.watcher.keep(found)
            return
        for f in found:
            item = self.items.get(test_of(f))
            if item is None or not (EXPECTED in item.stash or allowed(item, f)):
                self.outside.append((f.context, item and (item.nodeid, item.location), str(f)))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = {item.nodeid: item for item in session.items}
        if getattr(session.config.option, "forked", False) and "torch" in sys.modules:
            # The modules for fakes are imported once, and not in the process of each test.
            import torch._dynamo.source  # noqa: E401, F401

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Hook:
        self.item, item.stash[FOUND] = item, []
        return (yield from self.watched(item, "setup"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Hook:
        with self.examples(item):
            return (yield from self.watched(item, "call"))

    @contextlib.contextmanager
    def examples(self, item: pytest.Item) -> Iterator[None]:
        """Raises the findings of an example of hypothesis in that, which makes a smaller one of it."""
        of: Any = getattr(getattr(item, "obj", None), "hypothesis", None)
        if self.warn or not hasattr(of, "inner_test"):
            yield
            return
        test = of.inner_test

        @functools.wraps(test)
        def example(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            before = self.watcher.enter(*self.watcher.now)
            result = test(*args, **kwargs)
            found = [f for f in self.watcher.enter(*self.watcher.now) if not allowed(item, f)]
            self.watcher.keep(before)
            if found:
                raise OpassertError(found)
            return result

        of.inner_test = example
        try:
            yield
        finally:
            of.inner_test = test

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Hook:
        return (yield from self.watched(item, "teardown"))

    def watched(self, item: pytest.Item, when: str) -> Hook:
        """Runs a phase. Findings of its setup fail the call, which runs nonetheless."""
        context = "%s (%s)" % (item.nodeid, when)
        if self.watcher.now[0] != context:  # else the phase before it has entered it
            self.late(self.watcher.enter(context, self.again(item.nodeid)))
        failed = True
        try:
            result = yield
            failed = False
        finally:
            found = self.found(item, when)
            if self.warn:
                for f in found:
                    item.warn(OpassertWarning(str(f)))
            else:
                found = item.stash[FOUND] = item.stash[FOUND] + found
                # A failure of the test's own stays: the report has the findings besides.
                if not failed and when != "setup" and found:
                    raise OpassertError(found)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Hook:
        report = yield
        if hasattr(report, "wasxfail"):
            item.stash[EXPECTED] = True
        found = item.stash.get(FOUND, [])
        if not found or (call.when == "setup" and report.passed):
            return report
        item.stash[FOUND] = []
        text = "\n\n".join(str(f) for f in found)
        if getattr(getattr(call.excinfo, "value", None), "findings", None) is found:
            report.longrepr = shown(text, item.location)
        elif (report.failed or hasattr(report, "wasxfail")) and hasattr(report.longrepr, "addsection"):
            report.longrepr.addsection("opassert", text)
        elif hasattr(report, "wasxfail"):
            report.sections.append(("opassert", text))
        else:
            own = str(report.longrepr) + "\n\n" if report.failed else ""
            report.outcome, report.longrepr = "failed", shown(own + text, item.location)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds the findings of a test in a process that ended before it could report it."""
        if not report.failed or (self.item and self.item.nodeid == report.nodeid):
            return
        found = self.watcher.enter(*self.watcher.now)
        own = [f for f in found if test_of(f) == report.nodeid]
        self.late([f for f in found if f not in own])
        if own:
            report.longrepr = "\n\n".join(map(str, [report.longrepr, *own]))

    # Outside the tests.

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Hook:
        self.late(self.watcher.enter(collector.nodeid or "collection", self.again(collector.nodeid)))
        try:
            return (yield)
        finally:
            self.late(self.watcher.enter("collection", self.again("")))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.watcher.call_fakes()
        self.late(self.watcher.enter("", ""))
        if self.item:  # its phase may have ended the session
            self.late(self.item.stash[FOUND])
        worker = getattr(self.config, "workeroutput", None)
        if worker is not None:
            worker["opassert"] = self.outside
        else:
            self.report(session)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        self.outside += getattr(node, "workeroutput", {}).get("opassert", [])

    def report(self, session: pytest.Session) -> None:
        """Reports findings that come too late for their test as errors of its teardown, and those of no test
        as failures of their own."""
        texts: dict[tuple[Any, ...], list[str]] = {}
        for context, test, text in self.outside:
            if self.warn:
                warnings.warn_explicit(OpassertWarning(text), None, context, 0)
                continue
            nodeid, location = test or ("%s [opassert]" % context, (context, None, "opassert"))
            texts.setdefault((nodeid, tuple(location), "teardown" if test else "call"), []).append(text)
        for (nodeid, location, when), reports in texts.items():
            failure = shown("\n\n".join(dict.fromkeys(reports)), location)
            report = pytest.TestReport(nodeid, location, keywords={}, outcome="failed", longrepr=failure, when=when)
            self.config.hook.pytest_runtest_logreport(report=report)
            if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            terminal = self.config.pluginmanager.get_plugin("terminalreporter")
            if terminal and session.exitstatus not in SUMMARISED:
                terminal.section(report.nodeid)
                terminal.write_line(str(report.longrepr))


# The exit statuses with which pytest prints its reports of failures.
SUMMARISED = pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED, pytest.ExitCode.USAGE_ERROR

FOUND = pytest.StashKey[list[Finding]]()
EXPECTED = pytest.StashKey[bool]()  # of a test that is expected to fail, as it does

# The phases that follow others: each is entered where the one before it ends, which is a question less.
NEXT = {"setup": "call", "call": "teardown"}


def shown(text: str, location: tuple[str, int | None, str]) -> ReprExceptionInfo:
    """Returns what is shown of a failure, whose message is its first line."""
    at = ReprFileLocation(location[0], (location[1] or 0) + 1, text.partition("\n")[0])
    return ReprExceptionInfo(reprtraceback=ReprTraceback([ReprEntryNative([text + "\n"])], None, "native"), reprcrash=at)


def test_of(finding: Finding) -> str:
    return finding.context.rpartition(" (")[0]


def allowed(item: pytest.Item, finding: Finding) -> bool:
    """Reports whether a mark of the test, its class or its module allows a finding."""
    for mark in item.iter_markers("opassert"):
        allow = mark.kwargs.get("allow", ())
        names = {*mark.args, *([allow] if isinstance(allow, str) else allow)}
        if mark.kwargs.get("off") or "off" in names:
            return True
        if names & {finding.code, finding.title.partition(" ")[0], finding.op, finding.op.partition(".")[0]}:
            return True
    return False
