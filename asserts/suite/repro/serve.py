"""Runs programs, each in a process forked from this one, which has imported torch alone.

A line of standard input is a program and the file for what it prints, as JSON; the answer
is its exit status, negative for a signal. The argument is how many seconds a program
may take.
"""
import json
import os
import runpy
import signal
import sys
import traceback

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
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
import torch  # behind that: what it prints is no answer

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        answers.close()
        status = run(*json.loads(line))
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status & 0xFF)
    ended = os.waitpid(child, 0)[1]
    print(-os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else os.WEXITSTATUS(ended), file=answers)
