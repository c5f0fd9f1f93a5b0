"""Extensions that PyTorch compiles at their first use, and the locks of their folders.

A lock is a file that outlives its process. Locks of the run's processes have links in the run's folder, named by process: they are removed with the process.
"""

import contextlib
import glob
import hashlib
import os
import signal
import time

from torch.utils.file_baton import FileBaton

NOTES = os.environ.get("OPASSERT_WORKER", "")
acquire, release, wait = FileBaton.try_acquire, FileBaton.release, FileBaton.wait


def note(baton, pid):
    """Returns a lock, and its link while a process of the run holds it."""
    lock = os.path.abspath(baton.lock_file_path)
    digest = hashlib.sha1(lock.encode()).hexdigest()
    return lock, os.path.join(NOTES, f"extension-{pid}-{digest}")


def noting_acquire(baton):
    if acquired := acquire(baton):
        os.symlink(*note(baton, os.getpid()))
    return acquired


def noting_release(baton):
    release(baton)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(note(baton, os.getpid())[1])


def wait_for_the_run(baton):
    """Waits for a lock that a process of the run holds, and for no other: its process may have ended."""
    lock, links = note(baton, "*")
    time.sleep(baton.wait_seconds)  # as its link is made after it
    if os.path.exists(lock) and not glob.glob(links):
        raise RuntimeError(f"{lock} is locked: another program builds the extension, or was ended while it did; then remove the file")
    wait(baton)


def note_locks():
    FileBaton.try_acquire, FileBaton.release, FileBaton.wait = noting_acquire, noting_release, wait_for_the_run


def children():
    """Returns the child processes, adopted ones too."""
    with contextlib.suppress(OSError):  # without children; or a Linux without the files, or an ended thread
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # which takes a hundredth of the time
        tasks = os.listdir("/proc/self/task")
        return {int(pid) for task in tasks for pid in open(f"/proc/self/task/{task}/children").read().split()}
    return set()


def end_children(but):
    """Ends processes that a worker has left running: compilers remove their files when they are terminated."""
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
        asked = set(but)
        for _ in range(50):
            left = children() - but
            for pid in left - asked:
                os.kill(pid, number)
            for pid in left:
                os.waitpid(pid, os.WNOHANG)
            if not left:
                return
            asked |= left
            time.sleep(0.01)
