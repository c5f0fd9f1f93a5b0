"""The fakes of ops that a program has called, on arguments like those of its calls.

It runs in a fork of the program, when that ends: see fakes.h of the watcher, which
passes calls, the number of the first, and the file to answer to.
"""

import torch
from torch._library.simple_registry import singleton

ROOT = os.path.dirname(torch.__file__) + os.sep
LIBRARIES = {*sys.stdlib_module_names, "torch", "sympy", "numpy", "typing_extensions"}


class Registered:
    """What the program has registered; of what is there by a dispatch key alone the place is not known."""

    def fake(self, name):
        custom = OPDEFS.get(name.partition(".")[0])
        function = custom._abstract_fn if custom else singleton.find(name).fake_impl.kernel
        return function and site(function)


class Entered:
    """Finds the first function that is called and is no library's."""

    site = None

    def __call__(self, frame, event, _):
        module = frame.f_globals.get("__name__")  # none here
        if event == "call" and module and module.partition(".")[0] not in LIBRARIES and not frame.f_code.co_filename.startswith("<"):
            self.site = frame.f_code.co_filename, frame.f_code.co_firstlineno
            sys.setprofile(None)


class Likes:
    """Makes arguments like those that are described, with the same tensors and storages in common."""

    def __init__(self, device=None):
        self.device, self.storages, self.tensors = device, {}, {}

    def tensor(self, t):
        dtype, place = getattr(torch, t["dtype"]), t["storage"]
        if place not in self.storages:
            self.storages[place] = torch.empty((t["nbytes"] + 15) // 16 * 16, dtype=torch.uint8, device=self.device or t["device"])
        sizes, strides = [least for least, _ in t["sizes"]], t["strides"]
        return self.storages[place].view(dtype).as_strided(sizes, strides, t["offset"]).detach()

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
        makers = {"float": lambda: float(v), "device": lambda: torch.device(v), "torch": lambda: getattr(torch, v)}
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


def again(call):
    """Calls the fake of an op on arguments like those of a call, also under symbolic sizes."""
    function = overload(call["op"])
    if function is None:
        return {"unknown": "the op is gone when the program ends"}
    mode = fake_mode(ShapeEnv())
    with mode:
        args, kwargs = arguments(function, call, Likes())
    entered = Entered()
    sys.setprofile(entered)
    answer = answered(function, args, kwargs, mode)
    sys.setprofile(None)
    if "results" in answer:
        answer["guards"] = guards(function, *arguments(function, call, Likes("meta")), answer)
    return answer | {"site": answer["site"] if answer["site"][0] else entered.site or ["", 0]}


def tell(answer):
    os.write(to, (json.dumps(answer) + "\n").encode())


registered = Registered()
tell({})
with torch.no_grad():
    for call in json.loads(calls)[first:]:
        try:
            tell(again(call))
        except Exception as error:
            tell({"unknown": "its arguments could not be made: " + explained(error)})
