"""The findings of a part of a program, such as a cell of a notebook."""

from __future__ import annotations

from types import TracebackType

from . import process
from .findings import Finding, OpassertError, html_of, watcher


class watch:
    """Checks the ops that are called in a with statement against their schemas.

    findings are the broken rules, once it has ended; a notebook shows them when the value is the last of a cell. With
    fail=True they are raised, as an OpassertError. A process that was not started by `opassert run -- PROGRAM` is
    watched from its first with statement on; RuntimeError is raised if it can't be.
    """

    def __init__(self, name: str = "with opassert.watch()", fail: bool = False) -> None:
        self.name, self.fail = name, fail
        self.findings: list[Finding] = []

    def __enter__(self) -> watch:
        self._watcher = watcher() or process.join()
        self._watcher.confirm()
        self._around = self._watcher.now
        self._watcher.keep(self._watcher.enter(self.name, self._around[1]))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        found = self._watcher.enter(*self._around)
        self.findings = [f for f in found if f.context == self.name]
        self._watcher.keep([f for f in found if f.context != self.name])
        if error is None:
            self._watcher.confirm()  # libtorch may have been loaded meanwhile
        if self.fail and self.findings and error is None:
            raise OpassertError(self.findings)

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self.findings)) or "no findings"

    def _repr_html_(self) -> str:
        return html_of(self.findings)
