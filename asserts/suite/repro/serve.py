"""Runs programs, each in a process forked from this one, which has imported torch alone.

A line of standard input is a program, the file for what it prints, and whether it is like
the one before, as JSON; the answer is its exit status, negative for a signal. What is like
the one before is forked from a process that has imported what that one imported. The
argument is how many seconds a program may take.
"""
import contextlib
import importlib
import json
import os
import runpy
import signal
import sys
import tempfile

longest = int(sys.argv[1])


def run(program, printed):
    """Runs a program as `python3 PROGRAM` does, and returns its exit status."""
    out = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    for stream in (1, 2):
        os.dup2(out, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.alarm(longest)
    sys.argv = [program]
    sys.path[0] = os.path.dirname(program)
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as e:
        if e.code is None or isinstance(e.code, int):
            return e.code or 0
        print(e.code, file=sys.stderr)
        return 1
    except BaseException as e:
        try:
            sys.excepthook(type(e), e, e.__traceback__)
        except SystemExit as of_the_hook:
            return of_the_hook.code
        return 1
    return 0


def forked(program, printed):
    """Runs a program in a process of its own, and returns its exit status and its imports."""
    with tempfile.TemporaryFile("w+") as imported:
        child = os.fork()
        if child == 0:
            known = set(sys.modules)
            status = run(program, printed)
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            json.dump([sys.path, [name for name in sys.modules if name not in known]], imported)
            imported.flush()
            os._exit(status & 0xFF)
        ended = os.waitpid(child, 0)[1]
        imported.seek(0)
        return -os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else os.WEXITSTATUS(ended), imported.read()


def warm(imported, line):
    """Runs programs like the one before in forks of a fork that makes its imports; returns the next line that is not one's."""
    with tempfile.TemporaryFile("w+") as left:
        process = os.fork()
        if process == 0:
            sys.path[:], names = json.loads(imported)
            for name in names:
                with contextlib.suppress(BaseException):  # it is not the name of a module
                    importlib.import_module(name)
            while line:
                program, printed, like = json.loads(line)
                if not like:
                    break
                print(forked(program, printed)[0], file=answers)
                line = sys.stdin.readline()
            left.write(line)
            left.flush()
            os._exit(0)
        os.waitpid(process, 0)
        left.seek(0)
        return left.read()


answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
import torch  # after that, so that its output is not an answer

imported, line = "", sys.stdin.readline()
while line:
    program, printed, like = json.loads(line)
    if like and imported:
        line = warm(imported, line)
    else:
        status, imported = forked(program, printed)
        print(status, file=answers)
        line = sys.stdin.readline()
