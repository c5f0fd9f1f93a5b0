"""What tests ask of the system, and replace of it."""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import torch
from myops import bad


def test_capsys(capsys):
    torch.ops.myops.good(torch.ones(3))
    print("out")
    assert capsys.readouterr() == ("out\n", "")


def test_capfd(capfd):
    torch.ops.myops.good(torch.ones(3))
    os.write(1, b"out")
    os.write(2, b"err")
    assert capfd.readouterr() == ("out", "err")


def test_capfd_bad(capfd):
    bad()
    assert capfd.readouterr() == ("", "")


def test_caplog(caplog):
    logging.warning("here")
    assert [r.message for r in caplog.records] == ["here"]


def test_recwarn(recwarn):
    torch.ops.myops.good(torch.ones(3))
    assert len(recwarn) == 0


def test_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save(torch.ones(3), "t.pt")
    assert torch.load("t.pt").sum() == 3


def test_environment():
    assert not [name for name in os.environ if "LD_PRELOAD" in name or "OPASSERT_RUN" in name]
    shown = subprocess.run([sys.executable, "-c", "import os; print('LD_PRELOAD' in os.environ)"], capture_output=True, text=True)
    assert (shown.stdout, shown.stderr) == ("False\n", "")


def test_no_environment(monkeypatch):
    for name in list(os.environ):
        monkeypatch.delenv(name)
    torch.ops.myops.good(torch.ones(3))
    assert os.environ == {}


def test_patched(monkeypatch):
    for name in ("getpid", "fork", "write", "read", "close"):
        monkeypatch.setattr(os, name, lambda *args: pytest.fail("called"))
    torch.ops.myops.good(torch.ones(4))


def test_patched_bad(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 0)
    monkeypatch.setattr(json, "loads", lambda text: pytest.fail("called"))
    monkeypatch.setattr(os, "getpid", lambda: 1)
    bad()


def test_no_modules(monkeypatch):
    for name in ("json", "ctypes", "opassert.findings"):
        monkeypatch.setitem(sys.modules, name, None)
    torch.ops.myops.good(torch.ones(5))


def test_process_fails():
    subprocess.run([sys.executable, "-c", "raise SystemExit(3)"], check=True)


def test_process_bad():
    subprocess.run([sys.executable, "-c", "import myops; myops.bad()"], check=True, cwd=os.path.dirname(os.path.abspath(__file__)))


def test_fork_and_wait():
    child = os.fork()
    if child == 0:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(-1, 0)[1]) == 7


def test_descriptors():
    before = sorted(os.listdir("/proc/self/fd"))
    torch.ops.myops.good(torch.ones(7))
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_closes_descriptors():
    """Closes what a program does not know, as a daemon does."""
    known = {int(fd) for fd in os.listdir("/proc/self/fd")}
    for fd in known:
        with contextlib.suppress(OSError):
            if "socket:" in os.readlink("/proc/self/fd/%d" % fd) and fd > 200:
                os.close(fd)
    torch.ops.myops.good(torch.ones(8))


def test_after_that_bad():
    bad()


def test_threads():
    assert threading.active_count() < 10
    threads = [threading.Thread(target=torch.ops.myops.good, args=(torch.ones(3),)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def test_alarm():
    heard = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while not heard:
        torch.ops.myops.good(torch.ones(3))
    signal.signal(signal.SIGALRM, before)


def test_references():
    t = torch.ones(3)
    count = sys.getrefcount(t)
    torch.ops.myops.good(t)
    assert sys.getrefcount(t) == count


def test_trace():
    assert sys.gettrace() is None and sys.getprofile() is None


def test_recursion():
    def deeper():
        return deeper()

    with pytest.raises(RecursionError):
        deeper()
