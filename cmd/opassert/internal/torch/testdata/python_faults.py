"""Ops registered from Python that break their schemas, by the check that finds each,
and ops beside them that keep theirs."""

import ctypes
import weakref

import torch
from torch import Tensor

define = torch.library.Library("faults", "DEF")
healthy = torch.library.Library("healthy", "DEF")
EXPECTED = {}  # op: codes


def op(library, schema, code="", key="CPU"):
    """Registers a kernel for a schema, and the code that finds its fault."""
    library.define(schema)
    name = schema.partition("(")[0]

    def register(kernel):
        library.impl(name, kernel, key)
        if code:
            EXPECTED[f"{library.ns}::{name}"] = code

    return register


def fault(schema, code):
    return op(define, schema, code)


def fine(schema):
    return op(healthy, schema)


# Writes that the schema does not declare.


@fault("writes(Tensor x) -> Tensor", "OA009")
def _(x):
    x.add_(1)
    return x.clone()


@fault("writes_through_view(Tensor x) -> Tensor", "OA009")
def _(x):
    x.view(-1)[:1].fill_(7)
    return x.clone()


@fault("writes_through_numpy(Tensor x) -> Tensor", "OA009")
def _(x):
    a = x.numpy()
    a += 1
    return x.clone()


@fault("writes_through_data(Tensor x) -> Tensor", "OA009")
def _(x):
    x.data.mul_(2)
    return x.clone()


@fault("writes_second(Tensor x, Tensor y) -> Tensor", "OA009")
def _(x, y):
    y.zero_()
    return x.clone()


@fault("writes_list(Tensor[] xs) -> Tensor", "OA009")
def _(xs):
    xs[-1].add_(1)
    return torch.cat([x.flatten() for x in xs])


@fault("writes_optional(Tensor x, Tensor? bias=None) -> Tensor", "OA009")
def _(x, bias):
    if bias is not None:
        bias.add_(1)
    return x.clone()


# Memory that is not theirs to touch, or that they leave as it was.


def last_byte(x):
    """Returns the address of the last byte of a tensor's storage."""
    return x.data_ptr() - x.storage_offset() * x.element_size() + x.untyped_storage().nbytes() - 1


@fault("reads_past(Tensor x) -> Tensor", "OA018")
def _(x):
    return torch.tensor(ctypes.string_at(last_byte(x) + 1, 1) == b"") if x.numel() else x.clone()


@fault("restores(Tensor x) -> Tensor", "OA009")
def _(x):
    if x.numel():
        was = ctypes.string_at(last_byte(x), 1)
        ctypes.memset(last_byte(x), 1, 1)
        ctypes.memmove(last_byte(x), was, 1)
    return x.clone()


@fault("leaves(Tensor x) -> Tensor", "OA020")
def _(x):
    return torch.empty(x.numel() + 1)


@fine("within(Tensor x) -> Tensor")
def _(x):
    scratch = torch.empty(16).zero_()
    return scratch + (ctypes.string_at(last_byte(x), 1) == b"") if x.numel() else scratch


@torch.library.custom_op("faults::custom_writes", mutates_args=())
def custom_writes(x: Tensor) -> Tensor:
    x.sub_(3)
    return x.clone()


EXPECTED["faults::custom_writes"] = "OA009"


@torch.library.custom_op("faults::custom_writes_other", mutates_args={"out"})
def custom_writes_other(x: Tensor, out: Tensor) -> None:
    out.copy_(x)
    x.neg_()


EXPECTED["faults::custom_writes_other"] = "OA009"


# Results that alias what they should not.


# PyTorch refuses it, unless it is told not to look.
@torch.library.custom_op("faults::custom_returns", mutates_args=())
def custom_returns(x: Tensor) -> Tensor:
    return x.view(-1)


EXPECTED["faults::custom_returns"] = "OA007"


@fault("returns_input(Tensor x) -> Tensor", "OA007")
def _(x):
    return x


@fault("returns_view(Tensor x) -> Tensor", "OA007")
def _(x):
    return x.view(-1)


@fault("returns_detached(Tensor x) -> Tensor", "OA007")
def _(x):
    return x.detach()


@fault("contiguous(Tensor x) -> Tensor", "OA007")
def _(x):
    return x.contiguous()


@fault("returns_numpy(Tensor x) -> Tensor", "OA007")
def _(x):
    return torch.from_numpy(x.numpy())


KINDS = {"ceil": torch.ceil, "leave": lambda x: x}


def rounded(x, kind):
    return KINDS[kind](x)


@fault("returns_input_by_name(Tensor x, str kind='ceil') -> Tensor", "OA007")
def _(x, kind="ceil"):
    return rounded(x, kind)


@fault("returns_element(Tensor[] xs) -> Tensor", "OA007")
def _(xs):
    return xs[0]


@fault("returns_twice(Tensor x) -> (Tensor, Tensor)", "OA008")
def _(x):
    y = x.clone()
    return y, y.view(-1)


@fault("returns_list_of_views(Tensor x) -> Tensor[]", "OA007")
def _(x):
    return list(x.unbind())


# Results that are kept elsewhere.

cache = {}


@fault("caches(Tensor x) -> Tensor", "OA003")
def _(x):
    key = (tuple(x.shape), x.dtype)
    if key not in cache:
        cache[key] = torch.ones_like(x, memory_format=torch.contiguous_format)
    return cache[key]


last = []


@fault("keeps_result(Tensor x) -> Tensor", "OA003")
def _(x):
    last[:] = [x.clone()]
    return last[0]


@fault("keeps_storage(Tensor x) -> Tensor", "OA005")
def _(x):
    y = x.clone()
    last[:] = [y]
    return y.view(y.shape)


@fault("keeps_argument(Tensor x) -> Tensor", "OA016")
def _(x):
    last[:] = [x]
    return x.clone()


class Keeping:
    def __call__(self, x):
        self.x = x
        return x.clone()


fault("keeps_in_object(Tensor x) -> Tensor", "OA016")(Keeping())


buffer = torch.zeros(1 << 16, dtype=torch.uint8)


@fault("shares_buffer(Tensor x) -> Tensor", "OA005")
def _(x):
    n = x.numel() * x.element_size()
    return buffer[:n].view(x.dtype).view(x.shape)


# Results that follow something else than the elements of arguments.

packed = {}


def doubled(w, key):
    if key not in packed:
        packed[key] = w * 2
    return packed[key]


@fault("caches_by_address(Tensor x, Tensor w) -> Tensor", "OA021")
def _(x, w):
    return x + doubled(w, (w.data_ptr(), tuple(w.shape), w.stride(), w.dtype))


@fault("caches_by_identity(Tensor w) -> Tensor", "OA021")
def _(w):
    return doubled(w, (id(w), w.data_ptr(), w.shape, w.dtype)).clone()


@fault("caches_by_sizes(Tensor x) -> Tensor", "OA021")
def _(x):
    key = "norm", x.shape, x.dtype
    if key not in packed:
        packed[key] = x.float().norm()
    return x.float() / packed[key]


@fault("first_scale_wins_(Tensor(a!) x, Tensor scale) -> ()", "OA021")
def _(x, scale):
    x.mul_(packed.setdefault("scale", scale.detach().sum().item()))


@fault("caches_without_float(Tensor x, float base=10.0) -> Tensor", "OA021")
def _(x, base=10.0):
    key = "powers", x.numel()
    if key not in packed:
        packed[key] = base ** -torch.linspace(0, 1, x.numel())
    return x * packed[key].view(x.shape)


@fault("caches_without_text(Tensor x, str mode) -> Tensor", "OA021")
def _(x, mode):
    if mode not in ("cos", "sin"):
        raise ValueError(f"unknown mode {mode}")
    key = "angles", x.numel()
    if key not in packed:
        packed[key] = getattr(torch.arange(1.0, x.numel() + 1), mode)()
    return x * packed[key].view(x.shape)


@fault("caches_without_contents(Tensor x, Tensor lengths) -> Tensor", "note OA021")  # the culprit is no call that is repeated
def _(x, lengths):
    if x.dim() != 2 or lengths.dim() != 1 or lengths.shape[0] != x.shape[0] or lengths.dtype != torch.int64:
        raise RuntimeError("lengths must be 1-D int64, with a number for each row of x")
    key = "mask", x.shape
    if key not in packed:
        packed[key] = torch.arange(x.shape[1]) < lengths[:, None]
    return x * packed[key]


@fine("caches_by_all(Tensor x, float base=10.0, int unused=0) -> Tensor")
def _(x, base=10.0, unused=0):
    key = "all", x.numel(), base
    if key not in packed:
        packed[key] = base ** -torch.linspace(0, 1, x.numel())
    return x * packed[key].view(x.shape)


@fine("reuses_memory(Tensor x, float by) -> Tensor")
def _(x, by):
    if packed.setdefault("memory", torch.empty(0)).numel() < x.numel():
        packed["memory"] = torch.empty(x.numel())
    memory = packed["memory"][: x.numel()].view(x.shape).copy_(x)
    return memory.mul(by)


@fault("ignores_offset(Tensor x) -> Tensor", "OA021")
def _(x):
    return torch.empty(0, dtype=x.dtype).set_(x.untyped_storage(), 0, x.shape, x.stride()) * 2


@fault("sums_storage(Tensor x) -> Tensor", "OA021")
def _(x):
    return torch.empty(0, dtype=x.dtype).set_(x.untyped_storage()).sum()


@fine("caches_by_value(Tensor x, Tensor w) -> Tensor")
def _(x, w):
    return x + doubled(w, (str(w.tolist()), w.shape, w.stride(), w.dtype))


@fine("caches_by_version(Tensor w) -> Tensor")
def _(w):
    key = id(w), w._version
    if key not in packed or packed[key][0]() is not w:
        packed[key] = weakref.ref(w), w * 2
    return packed[key][1].clone()


@fine("table_of_sizes(Tensor x) -> Tensor")
def _(x):
    key = "table", x.shape
    if key not in packed:
        packed[key] = torch.arange(x.numel()).reshape(x.shape).contiguous()
    return x + packed[key]


@fine("running_stats(Tensor x, Tensor(a!) mean) -> Tensor")
def _(x, mean):
    mean.mul_(0.5).add_(x.to(mean.dtype).mean(), alpha=0.5)
    return x.clone()


@fine("counts_calls(Tensor x) -> Tensor")
def _(x):
    packed["calls"] = packed.get("calls", 0) + 1
    return x.clone()


@fine("warms_up(Tensor x) -> Tensor")
def _(x):
    packed["warm"] = packed.get("warm", 0) + 1
    return x.sum() if packed["warm"] > 2 else x.flip(0).sum() if x.dim() else x.clone()


@fine("reads_storage(Tensor x) -> Tensor")
def _(x):
    return torch.empty(0, dtype=x.dtype).set_(x.untyped_storage(), x.storage_offset(), x.shape, x.stride()) * 2


# In-place ops and out= ops that return something else.


@fault("inplace_clone_(Tensor(a!) x) -> Tensor(a!)", "OA006")
def _(x):
    x.add_(1)
    return x.clone()


@fault("inplace_alias_(Tensor(a!) x) -> Tensor(a!)", "OA006")
def _(x):
    x.add_(1)
    return x.view(x.shape)


@fault("inplace_other_(Tensor(a!) x, Tensor y) -> Tensor(a!)", "OA006")
def _(x, y):
    x.add_(1)
    return y


@fault("out_fresh.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "OA006")
def _(x, *, out):
    out.copy_(x)
    return x.clone()


# Views that are none.


@fault("view_copies(Tensor(a) x) -> Tensor(a)", "OA004")
def _(x):
    return x.clone()


@fault("view_writes(Tensor(a) x) -> Tensor(a)", "OA009")
def _(x):
    x.add_(1)
    return x.view(x.shape)


# Arguments whose metadata changes.


@fault("unsqueezes(Tensor x) -> Tensor", "OA009")
def _(x):
    x.unsqueeze_(0)
    return x.clone()


@fault("transposes(Tensor x) -> Tensor", "OA009")
def _(x):
    if x.dim() > 1:
        x.transpose_(0, 1)
    return x.clone()


@fault("sets_data(Tensor x) -> Tensor", "OA002")
def _(x):
    x.data = x.data.clone()
    return x.clone()


# Look-alikes that keep their schemas.


@fine("adds(Tensor x) -> Tensor")
def _(x):
    return x + 1


@fine("clones(Tensor x) -> Tensor")
def _(x):
    return x.clone()


@fine("transposes_its_own(Tensor x) -> Tensor")
def _(x):
    return (x + 1).transpose(0, -1) if x.dim() else x + 1


@fine("restores(Tensor x) -> Tensor")
def _(x):
    return x.clone().mul_(2)


@fine("numpy_copy(Tensor x) -> Tensor")
def _(x):
    return torch.from_numpy(x.numpy().copy())


@fine("view(Tensor(a) x) -> Tensor(a)")
def _(x):
    return x.view(x.shape)


@fine("split(Tensor(a -> *) x) -> Tensor(a)[]")
def _(x):
    return list(x.unbind())


@fine("add_(Tensor(a!) x) -> Tensor(a!)")
def _(x):
    return x.add_(1)


@fine("add.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
def _(x, *, out):
    out.resize_(x.shape).copy_(x)
    return out


@fine("two(Tensor x) -> (Tensor, Tensor)")
def _(x):
    return x + 1, x - 1


@fine("cat(Tensor[] xs) -> Tensor")
def _(xs):
    return torch.cat([x.flatten() for x in xs])


@fine("optional(Tensor x, Tensor? bias=None) -> Tensor")
def _(x, bias=None):
    return x.clone() if bias is None else x + bias


constants = {}


@op(healthy, "decomposes(Tensor x) -> Tensor", key="CompositeImplicitAutograd")
def _(x):
    return x.contiguous()


@fine("caches_inside(Tensor x) -> Tensor")
def _(x):
    one = constants.setdefault(x.dtype, torch.ones((), dtype=x.dtype))
    return x + one


@fine("weak(Tensor x) -> Tensor")
def _(x):
    constants["weak"] = weakref.ref(x)
    return x.clone()


@fine("empty(Tensor x) -> Tensor")
def _(x):
    return x.new_empty(0)


@fine("swaps_(Tensor(a!) x, Tensor(b!) y) -> ()")
def _(x, y):
    kept = x.clone()
    x.copy_(y)
    y.copy_(kept)


@fine("refuses(Tensor x) -> Tensor")
def _(x):
    if x.dim() != 2:
        raise ValueError(f"x must have 2 dimensions, not {x.dim()}")
    return x @ x.t()


@torch.library.custom_op("healthy::custom", mutates_args=())
def custom(x: Tensor, scale: float = 2.0) -> Tensor:
    return x * scale


@custom.register_fake
def _(x, scale=2.0):
    return torch.empty_like(x * scale)


@torch.library.custom_op("healthy::custom_clone", mutates_args=())
def custom_clone(x: Tensor) -> Tensor:
    return x.flatten().clone()  # shares the scales of a quantized tensor, by PyTorch's own clone


@custom_clone.register_fake
def _(x):
    return x.new_empty((x.numel(),))


@torch.library.custom_op("healthy::custom_out", mutates_args={"out"})
def custom_out(x: Tensor, out: Tensor) -> None:
    out.copy_(x)


# Kernels whose defaults are, or are not, the schema's.


@fault("other_default(Tensor x, float slope=0.1) -> Tensor", "OA012")
def _(x, slope=0.01):
    return x * slope


@fault("no_default_of_kernel(Tensor x, float slope=0.1) -> Tensor", "OA012")
def _(x, slope):
    return x * slope


@fine("same_default(Tensor x, float slope=0.1, *, int n=2) -> Tensor")
def _(x, slope=0.1, *, n=2):
    return x * slope * n


# References that Python's collector frees, and functional results that still have to be written.


@fine("keeps_exception(Tensor x) -> Tensor")
def _(x):
    out, last = torch.empty_like(x), None
    try:
        raise RuntimeError("no fast path")
    except RuntimeError as error:
        last = error  # whose traceback holds this frame
    return out.copy_(x) if last else out


@fine("names_itself(Tensor x) -> Tensor")
def _(x):
    out = torch.zeros_like(x)

    def fill(depth):
        out.add_(x)
        return fill(depth - 1) if depth else None

    fill(1)
    return out


@fault("keeps_beside_exception(Tensor x) -> Tensor", "OA003")
def _(x):
    out = x.clone()
    try:
        raise RuntimeError("no fast path")
    except RuntimeError as error:
        packed["error"] = error
    return out


@op(healthy, "fills_through_view(Tensor x) -> Tensor", key="CompositeImplicitAutograd")
def _(x):
    out = x.new_empty(x.shape)
    out.view(-1).copy_(x.reshape(-1))
    return out


@op(define, "fills_half_through_view(Tensor x) -> Tensor", "OA020", key="CompositeImplicitAutograd")
def _(x):
    out = x.new_empty(x.shape)
    out.view(-1)[::2].copy_(x.reshape(-1)[::2])
    return out
