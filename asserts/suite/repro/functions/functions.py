"""Functions for programs: each is copied into those that call it."""
import contextlib
import ctypes
import os
import signal
import sys

import torch


def storage_of(t):
    """Returns the address of a tensor's StorageImpl, and an owner of it: a functional tensor with a shared storage can't be resized."""
    if torch._is_functional_tensor(t):
        return (getattr(torch._C, "_storage_address", None) or torch._C._storage_id)(t), None
    return t.untyped_storage()._cdata, t.untyped_storage()


def memory(t):
    """Returns the bytes of a tensor's storage."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()).tolist()


def contents(t):
    """Returns the bytes of a sparse tensor's parts."""
    indices = ["indices"] if t.layout is torch.sparse_coo else ["compressed_indices", "plain_indices"]
    return [byte for name in [*indices, "values"] for byte in memory(part(t, name))]


def outline(t):
    return t.size(), t.dtype


def look(t):
    return t.size(), t.stride(), t.storage_offset(), t.dtype, getattr(t, "names", None)


def version(t):
    return None if t.is_inference() else t._version


def share(a, b):
    """Reports whether two tensors have bytes in common."""
    if a is b or a.untyped_storage()._cdata == b.untyped_storage()._cdata:
        return True
    s, t = ((torch._from_functional_tensor(x) if torch._is_functional_tensor(x) else x).untyped_storage() for x in (a, b))
    ends = s.data_ptr() + s.nbytes(), t.data_ptr() + t.nbytes()
    return s._cdata == t._cdata or max(s.data_ptr(), t.data_ptr()) < min(ends)


def holders(t):
    """Returns the number of references to a tensor, in C++ and in Python."""
    return t._use_count() + sys.getrefcount(t)


def uses(t):
    """Returns the number of references to the storage of a tensor."""
    return torch._C._storage_Use_Count(t.untyped_storage()._cdata)


def covered(t):
    """Returns the positions of a tensor's bytes in its storage."""
    size = t.element_size()
    bytes = torch.zeros(t.untyped_storage().nbytes(), dtype=torch.bool)
    strides = (*(s * size for s in t.stride()), 1)
    bytes.as_strided((*t.size(), size), strides, t.storage_offset() * size).fill_(True)
    return bytes.tolist()


def beside(before, t):
    """Reports whether bytes changed that are not elements of t."""
    return any(old != new and not element for old, new, element in zip(before, memory(t), covered(t)))


def beyond(t):
    """Reports whether elements of t lie outside its storage."""
    if t.numel() == 0:
        return False
    steps = [(n - 1) * s for n, s in zip(t.size(), t.stride())]
    first = t.storage_offset() + sum(s for s in steps if s < 0)
    last = t.storage_offset() + sum(s for s in steps if s > 0)
    return first < 0 or (last + 1) * t.element_size() > t.untyped_storage().nbytes()


def part(t, name):
    rows = t.layout in (torch.sparse_csr, torch.sparse_bsr)
    return {
        "scales": lambda: t.q_per_channel_scales(),
        "zero_points": lambda: t.q_per_channel_zero_points(),
        "indices": lambda: t._indices(),
        "values": lambda: t._values() if t.layout is torch.sparse_coo else t.values(),
        "compressed_indices": lambda: t.crow_indices() if rows else t.ccol_indices(),
        "plain_indices": lambda: t.col_indices() if rows else t.row_indices(),
        "sizes": lambda: t._nested_tensor_size(),
        "strides": lambda: t._nested_tensor_strides(),
        "value": lambda: torch._from_functional_tensor(t),
    }[name]()


def elements(t):
    """Returns the bytes of a tensor's elements."""
    if torch._is_functional_tensor(t):
        t = torch._from_functional_tensor(t)
    if t.layout is torch._mkldnn:
        t = t.to_dense()
    if t.layout is not torch.strided:
        return contents(t)
    t = t.detach().int_repr() if t.is_quantized else t.detach().resolve_conj().resolve_neg()
    return t.contiguous().clone().reshape(-1).view(torch.uint8).tolist()


def surround(values, byte):
    """Fills the bytes beside the elements of tensors in their storages."""
    for t in tensors(values):
        torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage())[~torch.tensor(covered(t), dtype=torch.bool)] = byte


def scale(values, by):
    """Multiplies the floating-point tensors among values."""
    for t in tensors(values):
        if t.is_floating_point() or t.is_complex():
            t.detach().mul_(by)


def forked(call):
    """Makes a call in a new process; returns its exit status: 2 if it raises, negative for a signal."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        torch.set_num_threads(1)
        try:
            call()
        except Exception as e:
            print("the call raises:", e, flush=True)
            os._exit(2)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def alone(call, byte):
    """Returns the text of the results of a call in a new process."""
    with open(os.memfd_create("said"), "w+") as said:
        if forked(lambda: print(call(byte), file=said, flush=True)) != 0:
            sys.exit(2)
        said.seek(0)
        return said.read()


def moved(t, places, allocate):
    """Returns a tensor like t whose storage is moved to memory that allocate returns."""
    if not isinstance(t, torch.Tensor) or t.layout is not torch.strided or t.is_quantized or t.is_nested or t._is_zerotensor():
        return t
    if torch._is_functional_tensor(t):
        return torch._to_functional_tensor(moved(torch._from_functional_tensor(t), places, allocate))
    storage = t.untyped_storage()
    if storage._cdata not in places:
        places[storage._cdata] = room, flat = allocate(storage.nbytes())
        flat[: storage.nbytes()] = torch.tensor(memory(t), dtype=torch.uint8)
    to = torch.empty(0, dtype=t.dtype).set_(places[storage._cdata][1].untyped_storage(), t.storage_offset(), t.size(), t.stride())
    to = torch._conj(to) if t.is_conj() else torch._neg_view(to) if t.is_neg() else to
    return to.requires_grad_(t.requires_grad)


def walled(n, byte):
    """Returns memory, and a tensor of n bytes, at least one, in the middle of it."""
    room = bytearray([byte]) * (4096 + max(n, 1) + 4096)
    return room, torch.frombuffer(room, dtype=torch.uint8, offset=4096, count=max(n, 1))


def ends(call, behind, protection):
    """Makes a call as forked does, while all memory of tensors lies beside pages with a protection."""
    if os.uname().machine != "x86_64":
        print("this program knows the functions of x86-64 alone")
        sys.exit(2)

    def guarded():
        kept = guarding(behind, protection)
        call()
        return kept

    return forked(guarded)


def guarding(behind, protection):
    """Lets PyTorch allocate memory that ends where pages with a protection begin, or begins
    where they end, and returns what must not be freed before the process ends.

    It puts functions of Python into a copy of the table of functions of PyTorch's allocator:
    the third makes a DataPtr, which is the address, what frees it and what that is given; the
    one behind is_simple_data_ptr, or in its place before 2.3, is what frees memory."""
    c10, libc, address = ctypes.CDLL("libc10.so"), ctypes.CDLL(None), ctypes.c_void_p
    numbers = ctypes.POINTER(ctypes.c_size_t)
    made = ctypes.CFUNCTYPE(address, address, address, ctypes.c_size_t)
    get, put = c10._ZN3c1015GetCPUAllocatorEv, c10._ZN3c1015SetCPUAllocatorEPNS_9AllocatorEh
    get.restype, put.argtypes, libc.mprotect.argtypes = address, [address, ctypes.c_uint8], [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
    allocator = get()
    table = (ctypes.c_size_t * 8)(*ctypes.cast(ctypes.cast(allocator, numbers)[0], numbers)[:8])
    theirs, page, guarded = made(table[2]), 4096, 1 << 19

    @made
    def allocate(result, _, n):
        theirs(result, allocator, n + 2 * guarded)
        data = ctypes.cast(result, numbers)
        first, align = -(-data[0] // page) * page, min(n & -n, 16) or 1
        pages = -(-n // page) * page
        if n and behind:
            libc.mprotect(first + pages, guarded, protection)
            data[0] = first + pages - -(-n // align) * align
        elif n:
            libc.mprotect(first, guarded, protection)
            data[0] = first + guarded
        data[1], data[2] = ctypes.cast(leave, address).value, data[0]
        return result

    leave = ctypes.CFUNCTYPE(None, address)(lambda data: None)
    leaves = ctypes.CFUNCTYPE(address, address)(lambda _: ctypes.cast(leave, address).value)
    table[2] = ctypes.cast(allocate, address).value
    table[4 if hasattr(c10, "_ZNK3c109Allocator18is_simple_data_ptrERKNS_7DataPtrE") else 3] = ctypes.cast(leaves, address).value
    mine = (ctypes.c_size_t * 1)(ctypes.addressof(table))
    put(ctypes.addressof(mine), 255)
    return allocate, leave, leaves, table, mine


def tensors(values):
    """Returns the tensors among values, in order."""
    return [t for t in torch.utils._pytree.tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    return torch.utils._pytree.tree_map(lambda v: by(v) if isinstance(v, (torch.Tensor, torch.device)) else v, values)


def shared(args, results):
    """Returns for each result the arguments and results with the same storage."""
    return [[r.untyped_storage()._cdata == t.untyped_storage()._cdata for t in tensors([args, results])] for r in tensors(results)]


def planned(results):
    """Returns the properties that a compiler uses: sizes, strides and dtypes."""
    return [(tuple(r.size()), r.stride(), r.dtype) for r in tensors(results)]


def numbers(results):
    """Returns the numbers among results, in order, and None for other values and unknown numbers."""
    values = torch.utils._pytree.tree_flatten(results)[0]
    return [v if isinstance(v, (int, float, complex)) else None for v in values]


def differences(here, there, tolerance):
    """Returns the differences between a call on a device and the one on the CPU, in values only with a tolerance."""
    (args, results), (cpu_args, cpu_results) = here, there
    plans = planned(results), planned(cpu_results)
    said = [] if plans[0] == plans[1] else [f"{plans[0]}, on the CPU {plans[1]}"]
    if shared(args, results) != shared(cpu_args, cpu_results):
        said.append("other storages are shared than on the CPU")
    if tolerance is None or said:
        return said
    for x, y in zip(tensors([args, results]), tensors([cpu_args, cpu_results])):
        x, y = x.detach().cpu(), y.detach()
        unlike = ~torch.isclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)
        if unlike.any():
            said.append(f"{int(unlike.sum())} elements, first {x[unlike][0].item()}, on the CPU {y[unlike][0].item()}")
    if numbers(results) != numbers(cpu_results):
        said.append(f"{numbers(results)}, on the CPU {numbers(cpu_results)}")
    return said


def leaves(values):
    """Returns values with copies of their tensors, which require grad if possible."""
    return replaced(values, lambda t: t.detach().clone().requires_grad_(t.is_floating_point() or t.is_complex()) if isinstance(t, torch.Tensor) else t)


def backward(results):
    """Calls the formulas of results that require grad."""
    results = [t for t in tensors(results) if t.requires_grad]
    if results:
        torch.autograd.backward(results, [torch.ones_like(t) for t in results])


def batched(function, args, kwargs):
    """Returns in what torch.vmap of two calls differs from separate ones, with all tensors in batches and with each alone, or ""."""
    given = tensors([args, kwargs])
    for of, dim in [(given, 0), (given, -1), *(([t], 0) for t in given)]:

        def call(*values):
            torch.manual_seed(0)
            passed = dict(zip(map(id, of), values))
            new_args, new_kwargs = replaced((args, kwargs), lambda t: passed.get(id(t), t))
            return tuple(tensors([function(*new_args, **new_kwargs)]))

        sides = [[t.detach().clone() for t in of], [t.detach().flatten().roll(1).view(t.shape) for t in of]]
        try:
            separate = [call(*side) for side in sides]
        except Exception:
            continue  # the kernel accepts no other values
        try:
            together = torch.vmap(call, in_dims=dim, randomness="different")(*(torch.stack(pair, dim) for pair in zip(*sides)))
        except Exception as e:
            return f"at dimension {dim}: it raises {e}"
        for n, results in enumerate(separate):
            for one, both in zip(results, together):
                if both.shape != (2, *one.shape):
                    return f"at dimension {dim}: the sizes are {list(both.shape)}, for two calls that return {list(one.shape)}"
                if not torch.allclose(both[n].to(torch.complex128), one.to(torch.complex128), 1e-2, 1e-3, equal_nan=True):
                    return f"at dimension {dim}: result {n} has other elements"
    return ""


def by_rules(function, args, kwargs):
    """Calls an op as autograd and vmap do, whatever that raises."""
    for name, call in [("autograd", lambda: backward(function(*leaves(args), **leaves(kwargs)))), ("vmap", lambda: batched(function, args, kwargs))]:
        print("calling it by", name, flush=True)
        with contextlib.suppress(Exception):
            call()
