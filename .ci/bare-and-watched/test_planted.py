"""Tests that end otherwise when watched, on purpose, for the gate to be tried with.

Each says in its name what differs; test_same and test_varies must not be counted.
"""

import os
import sys
import time

import torch

with open("/proc/self/maps") as maps:  # the environment does not show it
    WATCHED = "/opassert/run-" in maps.read()
torch.ones(1)  # a call that is watched


def test_outcome():
    assert not WATCHED


def test_exception():
    raise ValueError("watched" if WATCHED else "bare")


def test_stdout():
    print("watched" if WATCHED else "bare")


def test_stderr():
    print("watched" if WATCHED else "bare", file=sys.stderr)


def test_result(record_property):
    record_property("seen", ["sum", 1 + WATCHED])


if WATCHED:
    def test_only_watched():
        pass
else:
    def test_only_bare():
        pass


def test_death():
    if WATCHED:
        os._exit(3)


def test_after_death():
    """The gate starts again behind what died."""


def test_same():
    pass


def test_varies(record_property):
    record_property("seen", ["clock", time.time_ns()])
