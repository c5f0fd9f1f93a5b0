"""Runs programs, each in a process forked from this one, which has imported torch alone.

A line of standard input is a program, the file for what it prints, and whether it is like the one before, as JSON;
the answer is its exit status, negative for a signal. What is like the one before is forked from a process that has
imported what that one imported. The argument is how many seconds a program may take.
"""
import contextlib
import importlib
import json
import multiprocessing
import os
import runpy
import signal
import sys
import tempfile

longest = int(sys.argv[1])
processes = multiprocessing.get_context("fork")


def forked(function, *given):
    """Calls a function in a process of its own, with a file; returns the exit status, and what it wrote there."""
    with tempfile.TemporaryFile("w+") as file:
        process = processes.Process(target=function, args=(*given, file))
        process.start()
        process.join()
        file.seek(0)
        return process.exitcode, file.read()


def run(program, printed, imported):
    """Runs a program as `python3 PROGRAM` does, and writes what it imports."""
    out = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    for stream in (1, 2):
        os.dup2(out, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.alarm(longest)
    sys.argv = [program]
    sys.path[0] = os.path.dirname(program)
    known = set(sys.modules)
    try:
        runpy.run_path(program, run_name="__main__")
    except Exception as e:
        sys.excepthook(type(e), e, e.__traceback__)
        sys.exit(1)
    finally:
        print(json.dumps([sys.path, [name for name in sys.modules if name not in known]]), file=imported, flush=True)


def warm(imported, line, left):
    """Makes the imports of a program, runs those like it, and writes the next line that is not one's."""
    sys.path[:], names = json.loads(imported)
    for name in names:
        with contextlib.suppress(BaseException):  # it is not the name of a module
            importlib.import_module(name)
    while line and json.loads(line)[2]:
        answer(*json.loads(line)[:2])
        line = asks.readline()
    print(line, end="", file=left, flush=True)


def answer(program, printed):
    status, imported = forked(run, program, printed)
    print(status, file=answers, flush=True)
    return imported


asks, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
import torch  # after that, so that its output is not an answer

imported, line = "", asks.readline()
while line:
    program, printed, like = json.loads(line)
    if like and imported:
        line = forked(warm, imported, line)[1]
    else:
        imported = answer(program, printed)
        line = asks.readline()
