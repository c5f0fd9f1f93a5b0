"""The findings in this process, and in those that it has started."""

from __future__ import annotations

import ctypes
import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from ctypes import string_at
from json import loads  # tests may replace what they call of modules
from typing import Any


class OpassertError(AssertionError):
    """Raised for findings; its text has their reports."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("\n\n".join(str(f) for f in findings))
        self.findings = findings


class OpassertWarning(UserWarning):
    """Warns of findings that are not errors."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """A rule that an op broke.

    code is that of the check, such as "OA009"; op its name, such as "mylib::scale";
    title the first line of report; times counts the calls that broke it; context is the test
    or the cell of a notebook in which a program was watched. status is "violated", or of a note "noted",
    of a process that ended "crashed"; row has all that the command writes: see opassert help json.
    """

    code: str
    op: str
    title: str
    report: str
    times: int = 1
    context: str = ""
    status: str = "violated"
    row: Mapping[str, Any] = dataclasses.field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        return self.report

    def _repr_html_(self) -> str:
        import html

        title, report = html.escape(self.title), html.escape(self.report)
        return "<details><summary><code>%s</code></summary><pre>%s</pre></details>" % (title, report)


def html_of(findings: Iterable[Finding]) -> str:
    return "".join(f._repr_html_() for f in findings) or "<p>no findings</p>"


class Watcher:
    """The functions of the object that `opassert run` has loaded into this process."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.now = "", ""  # where the program is, and the command that repeats it
        self._kept: list[Finding] = []
        self._context = library.opassert_context
        self._context.argtypes, self._context.restype = [ctypes.c_char_p], ctypes.c_void_p
        self._fakes = ctypes.PyDLL(library._name).opassert_fakes
        self._watched = library.opassert_watched
        self._free = library.free
        self._free.argtypes = [ctypes.c_void_p]

    def enter(self, name: str, again: str = "") -> list[Finding]:
        """Enters a context, with the command that repeats it; returns the findings since the last call."""
        text = "%s\n%s" % (name.replace("\n", " "), again)
        found = self._context(text.encode(errors="backslashreplace"))
        kept, self._kept, self.now = self._kept, [], (name, again)
        if not found:
            return kept
        try:
            return kept + [Finding(**f) for f in loads(string_at(found))]
        finally:
            self._free(found)

    def keep(self, found: Iterable[Finding]) -> None:
        """Keeps findings for the next call of enter."""
        self._kept += found

    def confirm(self) -> None:
        """Raises RuntimeError if the ops that this process calls are not seen: without findings nothing is known of them."""
        if not self._watched():
            what = "run opassert doctor, which prints what is missing, and start the process again"
            raise RuntimeError("the ops that this process calls are not seen: " + what)

    def call_fakes(self) -> None:
        """Compares the fakes of the called ops with their kernels now, and not when the program ends."""
        self._fakes()


_process = ctypes.CDLL(None)
_watcher = Watcher(_process) if hasattr(_process, "opassert_context") else None


def watcher() -> Watcher | None:
    """Returns the watcher of this process, None if it is not watched."""
    return _watcher


def watch_process(file: bytes, place: bytes) -> Watcher:
    """Watches this process from now on: by the object in a file, with the value of its variable."""
    global _watcher
    library = ctypes.CDLL(os.fsdecode(file))  # not of bytes: Python 3.14 compares its end with text
    if not ctypes.PyDLL(library._name).opassert_join(place):
        raise OSError("%s can't be used in this process" % os.fsdecode(file))
    _watcher = Watcher(library)
    return _watcher
