"""Projects that are tested with the plugin and without it, each in a pytest of its own."""

import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

import pytest

collect_ignore = ["arranged", "measured", "plugged", "projects", "typed", "varied"]


class Outcome:
    """How a pytest has ended: tests maps each name, in order, to its outcome; timed are those with a duration, counts what its last line says."""

    def __init__(self, done, took, junit):
        self.status, self.stdout, self.stderr, self.took = done.returncode, done.stdout, done.stderr, took
        self.tests, self.texts, self.messages, self.timed = {}, {}, {}, set()
        self.counts = re.sub(r" in [\d.]+s.*|^=* ?", "", (self.stdout.strip().split("\n") or [""])[-1])
        for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase") if os.path.exists(junit) else ():
            # A test with an error in its teardown has two outcomes.
            if float(case.get("time", -1)) >= 0:
                self.timed.add(case.get("name"))
            outcomes = [c.tag for c in case if c.tag in ("failure", "error", "skipped")] or ["passed"]
            self.tests[case.get("name")] = "+".join(filter(None, [self.tests.get(case.get("name")), *outcomes]))
            self.messages.update((case.get("name"), c.get("message")) for c in case if c.tag in ("failure", "error"))
            self.texts[case.get("name")] = "\n".join(filter(None, [self.texts.get(case.get("name")), *(c.text for c in case)]))


@pytest.fixture
def project(tmp_path):
    """Makes a project of files, and returns what runs pytest there."""

    def make(**files):
        for name, text in files.items():
            (tmp_path / (name.replace("__", ".") if "__" in name else name + ".py")).write_text(text)

        def run(*flags, status=None, **variables):
            junit = tmp_path / "junit.xml"
            junit.unlink(missing_ok=True)
            command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", "-o", "junit_family=xunit2", "--junitxml=junit.xml", *flags]
            began = time.monotonic()
            done = subprocess.run(command, cwd=tmp_path, env={**os.environ, **variables}, capture_output=True, text=True, timeout=600)
            outcome = Outcome(done, time.monotonic() - began, junit)
            if status is not None:
                assert outcome.status == status, outcome.stdout + outcome.stderr
            return outcome

        return run

    return make


def read(folder):
    """Returns the files of a folder by their names without .py."""
    return {p.stem: p.read_text() for p in (pathlib.Path(__file__).parent / folder).glob("*.py")}


@pytest.fixture(scope="session")
def files():
    return read("projects")


@pytest.fixture(scope="session")
def varied(files):
    return {"myops": files["myops"], **read("varied")}


@pytest.fixture(scope="session")
def arranged(files):
    return {"myops": files["myops"], **read("arranged")}


@pytest.fixture(scope="session")
def plugged(files):
    return {"myops": files["myops"], **read("plugged")}
