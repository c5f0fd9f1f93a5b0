"""Calls the fakes of a program's ops on arguments like those of its calls.

It runs in a fork of the program, when that ends: see fakes.h of the watcher.
"""

import ctypes
import functools
import gc
import json
import os
import sys

import torch
from torch._subclasses.fake_tensor import FakeTensor

from .fakes import answered, described, fake_mode, held, outcome, passed
from .places import explained
from .registrations import is_written, overload, registered

LIBRARIES = {*sys.stdlib_module_names, __package__, "torch", "sympy", "numpy", "typing_extensions"}


class Entered:
    """Finds the first called function that is neither a library's nor a query about a device, such as their number."""

    site = None
    device = getattr(getattr(torch, torch._C._get_privateuse1_backend_name(), None), "__name__", "") + "."

    def __call__(self, frame, event, _):
        module = frame.f_globals.get("__name__")
        asked = module and (module + ".").startswith(self.device)
        if event == "call" and module and not asked and module.partition(".")[0] not in LIBRARIES and not frame.f_code.co_filename.startswith("<"):
            self.site = frame.f_code.co_filename, frame.f_code.co_firstlineno
            sys.setprofile(None)


class Likes:
    """Makes arguments of descriptions, which share tensors and storages alike: fakes of a mode, or tensors of a device."""

    def __init__(self, device="meta", fill=None, mode=None):
        self.device, self.fill, self.mode, self.storages, self.tensors = device, fill, mode, {}, {}

    def tensor(self, t):
        dtype, place = getattr(torch, t["dtype"]), t["storage"]
        if place not in self.storages:
            self.storages[place] = torch.empty((t["nbytes"] + 15) // 16 * 16, dtype=torch.uint8, device=self.device)
            if self.fill:
                self.fill(self.storages[place].view(dtype), place)
        sizes, strides = [least for least, _ in t["sizes"]], t["strides"]
        made = self.storages[place].view(dtype).as_strided(sizes, strides, t["offset"]).detach()
        # Under the mode each of these would cost as much as a fake's call.
        return FakeTensor(self.mode, made, torch.device(t["device"])) if self.mode else made

    def value(self, v):
        if isinstance(v, list):
            return [self.value(e) for e in v]
        if not isinstance(v, dict):
            return v
        ((kind, v),) = v.items()
        if kind == "tensor":
            if v["tensor"] not in self.tensors:
                self.tensors[v["tensor"]] = self.tensor(v)
            return self.tensors[v["tensor"]]
        makers = {"float": lambda: float(v), "device": lambda: torch.device("cpu" if self.device == "cpu" else v), "torch": lambda: getattr(torch, v)}
        return makers[kind]()


def arguments(function, call, likes):
    values = [(a, likes.value(v)) for a, v in zip(function._schema.arguments, call["values"])]
    return [v for a, v in values if not a.kwarg_only], {a.name: v for a, v in values if a.kwarg_only}


CONTENTS = [lambda t, _: t.zero_(), lambda t, _: t.fill_(1), lambda t, _: t.zero_()[::2].fill_(1)]
PERTURB = -6  # of mallopt: the contents of allocated memory
KEPT = 64 << 10  # bytes of a storage


def kept(call):
    """Returns a function that fills storages with the bytes of a call's, None unless all are known."""
    given = [t for of in call["arguments"] for t in of if t]
    if not all("bytes" in t for t in given):
        return None
    bytes_of = {t["storage"]: bytes.fromhex(t["bytes"]) for t in given}
    return lambda t, place: ctypes.memmove(t.data_ptr(), bytes_of[place], len(bytes_of[place]))


def seen(tensor, nbytes):
    """Describes a tensor on the CPU with its bytes, of an argument's storage at most as many as in the call."""
    one = described(tensor, torch.Tensor)
    if not one or not one["storage"]:
        return one
    storage = tensor.untyped_storage()
    n = min(storage.nbytes(), nbytes.get(one["storage"], KEPT))
    return one | {"offset": tensor.storage_offset(), "nbytes": n, "bytes": ctypes.string_at(storage.data_ptr(), n).hex()}


def filled(function, call, fill, turn):
    """Calls the kernel for the CPU on arguments with contents, and describes its results. Random numbers and new memory differ by turn."""
    likes, nbytes = Likes("cpu", fill), {t["storage"]: t["nbytes"] for of in call["arguments"] for t in of if t}
    torch.default_generator.manual_seed(turn)
    getattr(ctypes.CDLL(None), "mallopt", lambda *_: 0)(PERTURB, 90 + turn)
    args, kwargs = arguments(function, call, likes)
    of = {made.untyped_storage()._cdata: nbytes[place] for place, made in likes.storages.items()}
    given = passed(function._schema, args, kwargs)
    before = [[seen(t, of) for t in held(v)] for v in given]
    return outcome(function._schema, before, given, function(*args, **kwargs), lambda t: seen(t, of))


def plain(answer):
    """Returns the parts of an answer that must not depend on contents."""
    written = [[t and (t["dtype"], t["sizes"], t["strides"]) for t in of] for of in answer["written"]]
    return written, [[t and (t["dtype"], len(t["sizes"])) for t in of] for of in answer["results"]]


def alike(values):
    return values[0] if values.count(values[0]) == len(values) else None


def agreed(tensors):
    """Returns a tensor without the properties in which it differs from itself in other calls."""
    if tensors[0] is None:
        return None
    sizes, strides = ([alike(of) for of in zip(*(t[part] for t in tensors))] for part in ("sizes", "strides"))
    settled = {part: alike([t.get(part) for t in tensors]) for part in ("offset", "bytes")}
    return tensors[0] | settled | {"sizes": [s or [0, None] for s in sizes], "strides": strides}


def comparable(function, call):
    """Reports whether a call was on one device, and returns or writes a tensor, as a kernel for the CPU would."""
    schema, devices = function._schema, {t["device"].partition(":")[0] for of in call["arguments"] for t in of if t}
    answers = schema.returns or any(map(is_written, schema.arguments))
    strings = any("str" in str(a.type) for a in schema.arguments)  # strings may be names of files
    if not devices or devices & {"cpu", "meta"} or not answers or strings:
        return False
    has = functools.partial(torch._C._dispatch_has_kernel_for_dispatch_key, call["op"])
    # A kernel for every device is that of the devices too, where they have none of their own.
    own = any(has(torch._C._dispatch_key_for_device(d)) for d in devices)
    return has("CPU") or own and torch._C._dispatch_has_computed_kernel_for_dispatch_key(call["op"], "CPU")


def beside(function, call, apart):
    """Returns the answer of the kernel for the CPU for each of the contents, [] if it gives none.

    It is called in a process that can change only its own memory: the program has not called the kernel, which may
    write files, wait for other processes, or send to them.
    """
    end = apart()
    if end >= 0:
        with open(end or os.devnull, "rb") as file:
            return json.loads(file.read() or b"[]")
    try:
        torch.set_num_threads(1)  # a fork has none of the program's
        fill = kept(call)
        fills = [fill, fill] if fill else CONTENTS
        answers = json.dumps([filled(function, call, fill, turn) for turn, fill in enumerate(fills)])
        with open(-end, "wb", buffering=0) as file:
            file.write(answers.encode())
    finally:
        os._exit(0)


def on_cpu(function, call, apart):
    """Returns the answer of the kernel for the CPU to a call on another device, or None."""
    answers = beside(function, call, apart) if comparable(function, call) else []
    if not answers or any("fault" in a or plain(a) != plain(answers[0]) for a in answers):
        return None
    settled = {part: [[agreed(t) for t in zip(*of)] for of in zip(*(a[part] for a in answers))] for part in ("written", "results")}
    return answers[0] | settled | {"numbers": [alike(of) for of in zip(*(a["numbers"] for a in answers))]}


def again(call, apart):
    """Calls the fake of an op on arguments like a call's, under symbolic sizes too, and for a device the CPU's kernel."""
    function = overload(call["op"])
    if function is None:
        return {"unknown": "the op no longer exists when the program ends"}
    mode = fake_mode()
    from . import dynamic_fakes as symbols  # after the parts of Dynamo

    args, kwargs = arguments(function, call, Likes(mode=mode))
    entered = Entered()
    if not registered.fake(function.name()):
        sys.setprofile(entered)
    answer = answered(function, args, kwargs, mode)
    sys.setprofile(None)
    if "results" in answer and symbols.times.get(function, 0) < symbols.CALLS:
        answer |= symbols.under_symbols(function, *arguments(function, call, Likes()), answer)
    return answer | {"beside": on_cpu(function, call, apart), "site": answer["site"] if answer["site"][0] else entered.site or ["", 0]}


def main(calls, first, to, apart):
    """Writes a line for each call to a file, from the first on; apart() forks a process that changes only its own memory."""

    def tell(answer):
        os.write(to, (json.dumps(answer) + "\n").encode())

    gc.freeze()  # modules of the program, and those imported here
    gc.enable()
    tell({})
    with torch.no_grad():
        for call in json.loads(calls)[first:]:
            try:
                tell(again(call, apart))
            except Exception as error:
                tell({"unknown": "its arguments could not be made: " + explained(error)})
