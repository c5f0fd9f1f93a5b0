"""A pytest plugin that writes down what became of each test, as JSON lines.

$GATE_OUTCOMES is the file; tests that it has are not run again. $GATE_SHARD, "I/N", takes the I-th of N parts of the
tests. A line is {"start": test}, then {"test": test, ...}; the last is {"end": exit status}.
"""

import json
import os
import re
import zlib

import pytest

# Texts that differ from one process to the next.
VARYING = [
    (re.compile(r"0x[0-9a-fA-F]+"), "0x"),
    (re.compile(r"\b\d+(\.\d+)?(e-?\d+)? ?(s|ms|us|seconds)\b"), "TIME"),
    (re.compile(r"\d\d:\d\d:\d\d(\.\d+)?"), "TIME"),
    (re.compile(r"/tmp[\w]{8}\b|/tmp/[\w./-]*"), "/tmp"),
    (re.compile(r"\bid=\d{9,}|\b\d{14,}\b"), "ID"),
    (re.compile(r"\b(pid|PID|process|thread)[ =:]\d+"), "PID"),
]
KEPT = 3000


def steady(text):
    for pattern, instead in VARYING:
        text = pattern.sub(instead, text)
    if len(text) > KEPT:
        text = "%s... %d more, crc %08x" % (text[:KEPT], len(text) - KEPT, zlib.crc32(text.encode()))
    return text


class Outcomes:
    def __init__(self, path, shard):
        self.done = set()
        if os.path.exists(path):
            with open(path) as f:
                self.done = {record.get("test") for record in map(json.loads, f)}
        self.out = open(path, "a", buffering=1)
        self.index, self.of = map(int, shard.split("/"))
        self.test = {}

    def write(self, record):
        self.out.write(json.dumps(record) + "\n")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        def mine(test):
            return zlib.crc32(test.encode()) % self.of == self.index % self.of and test not in self.done

        left_out = [i for i in items if not mine(i.nodeid)]
        items[:] = [i for i in items if mine(i.nodeid)]
        config.hook.pytest_deselected(items=left_out)

    def pytest_collectreport(self, report):
        if report.failed and report.nodeid not in self.done:
            self.write({"test": report.nodeid or "(collection)", "outcome": "error", "why": steady(str(report.longrepr)[-KEPT:])})

    def pytest_runtest_logstart(self, nodeid, location):
        self.test = {"test": nodeid, "outcome": "passed"}
        self.write({"start": nodeid})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if not report.passed:
            self.test["outcome"] = report.outcome if call.when == "call" else report.when + " " + report.outcome
        elif hasattr(report, "wasxfail"):
            self.test["outcome"] = "unexpectedly passed"
        if call.excinfo is not None:
            raised = call.excinfo
            self.test["why"] = steady("%s: %s" % (raised.type.__name__, raised.value))
        if call.when == "teardown":
            self.test["stdout"] = steady(report.capstdout)
            self.test["stderr"] = steady(report.capstderr)
            self.test["seen"] = [value for name, value in report.user_properties if name == "seen"]
        return report

    def pytest_runtest_logfinish(self, nodeid, location):
        self.write(self.test)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        self.write({"end": int(exitstatus)})


def pytest_configure(config):
    config.pluginmanager.register(Outcomes(os.environ["GATE_OUTCOMES"], os.environ.get("GATE_SHARD", "0/1")))
