"""Runs a program in a fork whose parent becomes opassert run: as pytest --opassert goes on.

The arguments are the command, with the flags of run, then --, and the program's words.
"""
import pathlib
import runpy
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[5] / "python"))
from opassert import process

assert process.can_fork()
at = sys.argv.index("--")
run, sys.argv = sys.argv[1:at], sys.argv[at + 1 :]
process.fork(run, ["--", sys.executable, *sys.argv])
runpy.run_path(sys.argv[0], run_name="__main__")
