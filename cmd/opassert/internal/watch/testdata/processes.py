"""One faulty call on each way that a program goes: threads, children, handlers, the end."""
import atexit
import os
import subprocess
import sys
import threading

import torch
import torch.multiprocessing as mp

library, how = sys.argv[1], sys.argv[2]
torch.ops.load_library(library)


def fault():
    torch.ops.bad.returns_input(torch.ones(3))  # OA007


def in_spawned(rank, library):
    torch.ops.load_library(library)
    os.environ["RANK"] = str(rank)
    fault()


def threads():
    def work():
        for _ in range(300):
            fault()

    all = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in all], [t.join() for t in all]


def fork():
    for _ in range(2):
        if os.fork() == 0:
            fault()
            os._exit(0)
        os.wait()


def spawn():
    mp.spawn(in_spawned, (library,), nprocs=2)


class Faulty(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        fault()
        return i


def workers():
    list(torch.utils.data.DataLoader(Faulty(), num_workers=2))


def children():
    subprocess.run([sys.executable, __file__, library, "main"], check=True)
    subprocess.run(["bash", "-c", "ls / | cat >/dev/null && echo child"], check=True)


def cleared():
    os.environ.clear()
    subprocess.run(["env", "-i", sys.executable, __file__, library, "main"], env={}, check=True)
    os.system(f"{sys.executable} {__file__} {library} main")


def other_user():
    if os.fork() == 0:
        os.setgroups([]), os.setgid(65534), os.setuid(65534)
        fault()
        os._exit(0)
    os.wait()


def descriptors(hard=None):
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard or resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    def use_up():
        try:
            while True:
                os.dup(0)
        except OSError:
            pass

    use_up()
    if os.fork() == 0:
        use_up()
        fault()
        os._exit(0)
    os.wait()


def no_descriptors():
    descriptors(256)


def daemon():
    if os.fork() == 0:
        import time
        os.setsid()
        time.sleep(1)
        fault()
        os._exit(0)


def temporary():
    import shutil, tempfile
    shutil.rmtree(tempfile.gettempdir())
    children()
    fault()


def system_call():
    import ctypes
    if os.fork() == 0:
        words = [sys.executable, __file__, library, "main"]
        argv = (ctypes.c_char_p * 5)(*[w.encode() for w in words], None)
        ctypes.CDLL(None).syscall({"x86_64": 59, "aarch64": 221}[os.uname().machine], argv[0], argv, (ctypes.c_char_p * 1)(None))
    os.wait()


def main():
    fault()


def at_exit():
    atexit.register(fault)


def killed():
    fault()
    os.kill(os.getpid(), 9)


def crashes():
    fault()
    os.abort()


def status():
    fault()
    sys.exit(7)


def raised():
    try:
        fault()
    except RuntimeError as e:
        print("RuntimeError:", str(e).splitlines()[0])


def closes():
    import resource
    os.closerange(3, min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[0]))
    opened = [os.open("/dev/null", os.O_RDWR) for _ in range(800)]
    for fd in opened:
        assert os.write(fd, b"x") == 1
    fault()


def outlives():
    import time
    print("started", flush=True)
    time.sleep(float(sys.argv[3]))
    fault()
    print("unharmed", flush=True)


if __name__ == "__main__":
    globals()[how]()
