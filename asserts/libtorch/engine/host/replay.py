"""The fakes of ops that a program has called, on arguments like those of its calls.

It runs in a fork of the program, when that ends: see fakes.h of the watcher, which
passes calls, the number of the first, and the file to answer to.
"""

import gc
import logging

from torch._library.simple_registry import singleton

LIBRARIES = {*sys.stdlib_module_names, "torch", "sympy", "numpy", "typing_extensions"}


class Registered:
    """What the program has registered; of what is there by a dispatch key alone the place is not known."""

    def fake(self, name):
        custom = OPDEFS.get(name.partition(".")[0])
        function = custom._abstract_fn if custom else singleton.find(name).fake_impl.kernel
        return function and site(function)


class Entered:
    """Finds the first function called that is not a library's, nor what PyTorch asks of a device, such as how many there are."""

    site = None
    device = getattr(getattr(torch, torch._C._get_privateuse1_backend_name(), None), "__name__", "") + "."

    def __call__(self, frame, event, _):
        module = frame.f_globals.get("__name__")  # none here
        asked = module and (module + ".").startswith(self.device)
        if event == "call" and module and not asked and module.partition(".")[0] not in LIBRARIES and not frame.f_code.co_filename.startswith("<"):
            self.site = frame.f_code.co_filename, frame.f_code.co_firstlineno
            sys.setprofile(None)


class Likes:
    """Makes arguments like those that are described, with the same tensors and storages in common: fake ones of a mode, or others of a device."""

    def __init__(self, device="meta", fill=None, mode=None):
        self.device, self.fill, self.mode, self.storages, self.tensors = device, fill, mode, {}, {}

    def tensor(self, t):
        dtype, place = getattr(torch, t["dtype"]), t["storage"]
        if place not in self.storages:
            self.storages[place] = torch.empty((t["nbytes"] + 15) // 16 * 16, dtype=torch.uint8, device=self.device)
            if self.fill:
                self.fill(self.storages[place].view(dtype))
        sizes, strides = [least for least, _ in t["sizes"]], t["strides"]
        made = self.storages[place].view(dtype).as_strided(sizes, strides, t["offset"]).detach()
        # Under the mode each of these would cost as much as the call of a fake.
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
    """Returns those that a call passes by position, and those by name."""
    args, kwargs = [], {}
    for a, v in zip(function._schema.arguments, call["values"]):
        if a.kwarg_only:
            kwargs[a.name] = likes.value(v)
        else:
            args.append(likes.value(v))
    return args, kwargs


CONTENTS = [lambda t: t.zero_(), lambda t: t.fill_(1), lambda t: t.zero_()[::2].fill_(1)]


def computed(function, call, fill):
    """Calls the kernel for the CPU on arguments like those of a call, with contents of our own, and says what it returns."""
    schema = function._schema
    args, kwargs = arguments(function, call, Likes("cpu", fill))
    given = [kwargs[a.name] if a.kwarg_only else args[i] for i, a in enumerate(schema.arguments)]

    def tensors(values):
        return [[described(t, torch.Tensor) for t in held(v)] for v in values]

    before, values = tensors(given), function(*args, **kwargs)
    written = tensors([v if a.alias_info and a.alias_info.is_write else [] for a, v in zip(schema.arguments, given)])
    return {"arguments": before, "written": written, "results": tensors(values if len(schema.returns) > 1 else [values] * len(schema.returns))}


def plain(answer):
    """Returns of an answer what is not to depend on contents."""
    written = [[t and (t["dtype"], t["sizes"], t["strides"]) for t in of] for of in answer["written"]]
    return written, [[t and (t["dtype"], len(t["sizes"])) for t in of] for of in answer["results"]]


def agreed(tensors):
    """Returns a result with those sizes and strides left open in which it differs from itself in other calls."""
    first = tensors[0]
    if first is None:
        return None
    sizes, strides = (list(zip(*(t[part] for t in tensors))) for part in ("sizes", "strides"))
    return first | {
        "sizes": [s[0] if s.count(s[0]) == len(s) else [0, None] for s in sizes],
        "strides": [s[0] if s.count(s[0]) == len(s) else None for s in strides],
    }


def comparable(function, call):
    """Reports whether a call was on a device alone, and returns or writes tensors, which a kernel for the CPU would too."""
    schema, devices = function._schema, {t["device"].partition(":")[0] for of in call["arguments"] for t in of if t}
    tensors = any("Tensor" in str(r.type) for r in schema.returns) or any(a.alias_info and a.alias_info.is_write for a in schema.arguments)
    strings = any("str" in str(a.type) for a in schema.arguments)  # which may be names of files
    return devices and not devices & {"cpu", "meta"} and tensors and not strings and torch._C._dispatch_has_kernel_for_dispatch_key(call["op"], "CPU")


def beside(function, call):
    """Returns what the kernel for the CPU answers for each of the contents, [] where it does not answer.

    It is called in a process that can change nothing but its own memory: the kernel may write files,
    wait for other processes, or send to them, and the program has not called it.
    """
    end = apart()
    if end >= 0:
        with open(end or os.devnull, "rb") as file:
            return json.loads(file.read() or b"[]")
    try:
        torch.set_num_threads(1)  # a fork has none of the program's
        answers = json.dumps([computed(function, call, fill) for fill in CONTENTS])
        with open(-end, "wb", buffering=0) as file:
            file.write(answers.encode())
    finally:
        os._exit(0)


def on_cpu(function, call):
    """Returns how the kernel for the CPU answers a call on another device, {} where that is not known."""
    answers = beside(function, call) if comparable(function, call) else []
    if not answers or any(plain(a) != plain(answers[0]) for a in answers):
        return {}
    results = [[agreed(t) for t in zip(*of)] for of in zip(*(a["results"] for a in answers))]
    return answers[0] | {"on": "cpu", "results": results}


def again(call):
    """Calls the fake of an op on arguments like those of a call, also under symbolic sizes; without one the CPU's kernel, where another device's was called."""
    function = overload(call["op"])
    if function is None:
        return {"unknown": "the op is gone when the program ends"}
    mode = fake_mode(ShapeEnv())
    args, kwargs = arguments(function, call, Likes(mode=mode))
    entered = Entered()
    if not registered.fake(function.name()):
        sys.setprofile(entered)
    answer = answered(function, args, kwargs, mode)
    sys.setprofile(None)
    if "results" in answer and times.get(function, 0) < CALLS:
        answer |= under_symbols(function, *arguments(function, call, Likes()), answer)
    if answer.get("missing"):
        answer |= on_cpu(function, call)
    return answer | {"site": answer["site"] if answer["site"][0] else entered.site or ["", 0]}


def tell(answer):
    os.write(to, (json.dumps(answer) + "\n").encode())


gc.freeze()  # what the program has, and what was imported here
gc.enable()
logging.getLogger("torch.__trace").handlers.clear()  # what PyTorch writes of its compiler for a file that is the program's
registered = Registered()
tell({})
with torch.no_grad():
    for call in json.loads(calls)[first:]:
        try:
            tell(again(call))
        except Exception as error:
            tell({"unknown": "its arguments could not be made: " + explained(error)})
