"""The Python of a worker's kernels.

It imports PyTorch and the user's modules, once, and lists the ops that they add, and the places of their kernels. Then it forks for each worker, and the child serves that worker's requests to libtorch. If a module has started threads, a child is a new process, which imports everything again.

It talks to its parent in packets, over a socket: see host.c.
"""

import faulthandler
import resource
import subprocess

MEMORY = 3 << 30  # bytes of address space for kernels, besides those used at first


def names():
    return set(torch._C._dispatch_get_all_op_names())


def methods():
    return len(torch._C._jit_get_custom_class_schemas())


def serve(calls, stack):
    """Serves the requests of a worker, and ends with it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if control:
        control.close()
    os.chdir(folder)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = used + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))
    faulthandler.enable(stack, all_threads=False)
    state.begin()
    after = ctypes.CFUNCTYPE(None, ctypes.c_int)(state.after)
    shim.oa_serve(calls, stack, after)
    os._exit(0)


def driven():
    """Reports whether a driver is started, which a fork could not use."""
    devices = [each for each in vars(torch).values() if each is not torch.cpu and "is_initialized" in getattr(each, "__dict__", ())]
    return any(device.is_initialized() for device in devices)


def start(files):
    """Starts a server process, and returns a function that waits for it."""
    if len(os.listdir("/proc/self/task")) > 1 or driven():
        again = dict(os.environ, OPASSERT_FILES=",".join(map(str, files)))
        return subprocess.Popen([sys.executable, "-c", source], env=again, pass_fds=files).pid
    flush()
    pid = os.fork()
    if pid == 0:
        serve(*files)
    return pid


source, folder = os.environ["OPASSERT_HOST"], os.environ["OPASSERT_WORKER"]
lent, before, methods_before, registered, state = lend(), names(), methods(), Registrations(), State()
for module in filter(None, os.environ["OPASSERT_MODULES"].split(",")):
    load(module)
tame_triton()
begin("")
gc.freeze()  # so that it visits only new objects, and does not write to the pages that forks share
for path in os.environ["OPASSERT_SHIM"].split("\n"):
    shim = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
shim.oa_logged.restype = ctypes.c_char_p
shim.oa_methods(ctypes.c_int64(methods_before))
if files:
    serve(*files)
for op in sorted(names() - before):
    if not registered.own(op):
        file, line = registered.kernel(op)
        say("op", op, file, str(line))
ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: processes that workers leave are ended here
say("ready")
while True:
    packet, files, *_ = socket.recv_fds(control, 1, 2)
    if not packet:
        os._exit(0)
    resident = children()
    pid = start(files)
    say("pid", str(pid))
    for file in files:
        os.close(file)
    status = os.waitpid(pid, 0)[1]
    end_children(resident)
    say("ended", str(status))
