"""Watching of a process that runs already."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from . import command
from .findings import Watcher, watch_process


def can_fork() -> bool:
    """Reports whether a fork would have all of this process, without libtorch loaded."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return False  # it has children
    except ChildProcessError:
        pass
    with open("/proc/self/maps") as maps:
        return len(os.listdir("/proc/self/task")) == 1 and "/libtorch_cpu.so" not in maps.read()


def fork(run: list[str], program: list[str]) -> None:
    """Continues in a child, while this process becomes its parent: opassert run, with the flags of a command. program is the child's name."""
    source, sink = os.pipe()
    child = os.fork()
    if child:
        os.set_inheritable(sink, True)
        try:
            os.execv(run[0], [*run, "-child=%d:%d" % (child, sink), *program])
        finally:  # where it can't be executed the child ends
            os.close(sink)
            os.waitpid(child, 0)
    os.close(sink)
    with open(source, "rb") as file:
        where = file.read().split(b"\0")
    if len(where) < 2:
        os._exit(2)  # opassert has printed why
    watch_process(*where[:2])


def join() -> Watcher:
    """Watches this process from now on, by opassert run beside it, which ends with it.

    RuntimeError is raised where it can't be. Threads that run already are not watched.
    """
    if sys.platform != "linux":
        raise RuntimeError("programs are watched on Linux only")
    source, sink = os.pipe()
    with open(source, "rb") as file, tempfile.TemporaryFile() as said:
        # The shell ends at once, and leaves no child here for which the program might wait.
        run = ["/bin/sh", "-c", '"$@" &', "sh", command.path(), "run", "-child=%d:%d" % (os.getpid(), sink), "--", sys.executable]
        try:
            subprocess.run(run, check=True, pass_fds=[sink], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True)
        finally:
            os.close(sink)
        where = file.read().split(b"\0")
        if len(where) < 2:
            said.seek(0)
            raise RuntimeError("this process can't be watched: " + said.read().decode(errors="replace").strip())
    return watch_process(*where[:2])
