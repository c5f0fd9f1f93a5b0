"""Watching of a process that runs already."""

import os

from .findings import watch_process


def can_fork():
    """Reports whether a fork would have all of this process, without libtorch loaded."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return False  # it has children
    except ChildProcessError:
        pass
    with open("/proc/self/maps") as maps:
        return len(os.listdir("/proc/self/task")) == 1 and "/libtorch_cpu.so" not in maps.read()


def fork(run, program):
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
