"""Ops whose fakes are not what their kernels are, each found as OA011, and ops beside
them whose fakes are right."""

import torch
from torch import Tensor

define = torch.library.Library("fakes", "DEF")
healthy = torch.library.Library("right", "DEF")
EXPECTED = {}  # op: what the report says


def pair(library, schema, kernel, fake, key="CPU"):
    library.define(schema)
    name = schema.partition("(")[0]
    library.impl(name, kernel, key)
    if fake:
        torch.library.register_fake(f"{library.ns}::{name}", fake, lib=library)
    return f"{library.ns}::{name}"


def wrong(schema, saw, kernel, fake, key="CPU"):
    EXPECTED[pair(define, schema, kernel, fake, key)] = saw


def right(schema, kernel, fake, key="CPU"):
    pair(healthy, schema, kernel, fake, key)


# Sizes, strides and dtypes.

wrong("size(Tensor x) -> Tensor", "sizes", lambda x: x.new_zeros(x.numel()), lambda x: x.new_empty(x.numel() + 1))
wrong("rank(Tensor x) -> Tensor", "sizes", lambda x: x.clone().unsqueeze(0), lambda x: torch.empty_like(x))
wrong("dtype(Tensor x) -> Tensor", "the kernel returned bool, its fake ", lambda x: (x > 0), lambda x: torch.empty_like(x))
wrong("promotion(Tensor x) -> Tensor", "dtype", lambda x: x * 1.5, lambda x: torch.empty_like(x))  # of integers alone
wrong("strides(Tensor x) -> Tensor", "strides", lambda x: x.t().clone() if x.dim() == 2 else x.clone(), lambda x: x.new_empty(tuple(x.shape)[::-1]) if x.dim() == 2 else torch.empty_like(x))
wrong("contiguous(Tensor x) -> Tensor", "strides", lambda x: x.clone(memory_format=torch.contiguous_format), lambda x: torch.empty_like(x))
wrong("preserves(Tensor x) -> Tensor", "strides", lambda x: x.clone(), lambda x: x.new_empty(x.shape))
wrong("device(Tensor x) -> Tensor", "device", lambda x: x.clone(), lambda x: torch.empty_like(x, device="meta"))
wrong("list_length(Tensor x) -> Tensor[]", "3 tensors, its fake 2", lambda x: [x + i for i in range(3)], lambda x: [torch.empty_like(x) for _ in range(2)])
wrong("second(Tensor x) -> (Tensor, Tensor)", "the kernel returned int64, its fake ", lambda x: (x.clone(), x.argsort(-1)), lambda x: (torch.empty_like(x), torch.empty_like(x)))
wrong("flag(Tensor x, bool keep=False) -> Tensor", "sizes", lambda x, keep=False: x.sum(-1, keepdim=keep), lambda x, keep=False: x.sum(-1))
wrong("optional(Tensor x, Tensor? weight=None) -> Tensor", "sizes", lambda x, weight=None: x.clone() if weight is None else x.new_zeros(3), lambda x, weight=None: torch.empty_like(x))
wrong("explicit(Tensor x) -> Tensor", "sizes", lambda x: x.flatten().clone(), lambda x: torch.empty_like(x), key="CompositeExplicitAutograd")

wrong("kernel_as_fake(Tensor x) -> Tensor", "sizes", lambda x: x.new_zeros(2 if type(x) is Tensor else 3), None, key="CompositeExplicitAutograd")


def rolled(x):
    return torch.roll(x, 1, -1) if x.dim() else x.clone()


wrong("rolls_more(Tensor x) -> Tensor", "sizes", lambda x: rolled(x).unsqueeze(0), rolled)
wrong("on_the_cpu(Tensor x) -> Tensor", "for tensors on a GPU its fake returns some on cpu", lambda x: x.clone(), lambda x: torch.empty_like(x, device="cpu"), key="CompositeExplicitAutograd")
right("for_the_cpu(Tensor x) -> Tensor", lambda x: x.clone(), lambda x: torch.empty_like(x, device="cpu"))
right("where_x_is(Tensor x) -> Tensor", lambda x: torch.full_like(x, 1), lambda x: torch.empty_like(x, device=x.device), key="CompositeExplicitAutograd")

# Of one sort of tensor.

wrong("kernel_forgets(Tensor x) -> Tensor", "dtype", lambda x: x.clone() if x.numel() else x.new_zeros(x.shape, dtype=torch.float64 if x.dtype != torch.float64 else torch.float32), lambda x: torch.empty_like(x))
wrong("fake_forgets(Tensor x) -> Tensor", ", its fake bool", lambda x: x.clone(), lambda x: torch.empty_like(x) if x.numel() else x.new_empty(x.shape, dtype=torch.bool))

# Numbers.

wrong("number_count(Tensor x) -> (Tensor, int)", "number ", lambda x: (x.clone(), x.dim()), lambda x: (torch.empty_like(x), -1))
wrong("number_mean(Tensor x) -> float", "number 0.5, its fake 0", lambda x: 0.5, lambda x: 0.0)
wrong("number_sign(Tensor x) -> bool", "number true, its fake false", lambda x: True, lambda x: False)
wrong("number_rows(Tensor x) -> int[]", "number ", lambda x: [7, x.numel()], lambda x: [7, -1])
right("number_counted(Tensor x) -> (Tensor, SymInt)", lambda x: (x.clone(), int((x != 0).sum())), lambda x: (torch.empty_like(x), torch.library.get_ctx().new_dynamic_size()))
right("number_shape(Tensor x, float f=0.1) -> (int[], float, bool)", lambda x, f=0.1: (list(x.shape), f, x.dim() > 1), lambda x, f=0.1: (list(x.shape), f, x.dim() > 1))
right("number_bounds(Tensor x) -> (float, float, float)", lambda x: (1e300, float("inf"), float("nan")), lambda x: (1e300, float("inf"), float("nan")))

# What shares with what.

wrong("fake_aliases(Tensor x) -> Tensor", "what shares with nothing, its fake what is argument x", lambda x: x.clone(), lambda x: x)
wrong("fake_views(Tensor x) -> Tensor", "its fake what shares storage with argument x", lambda x: x.clone(), lambda x: x.view_as(x))
wrong("fake_copies(Tensor(a) x) -> Tensor(a)", "what shares storage with argument x, its fake what shares with nothing", lambda x: x.view_as(x), lambda x: torch.empty_like(x))
wrong("fake_pairs(Tensor x) -> (Tensor, Tensor)", "its fake what is result0", lambda x: (x.clone(), x.clone()), lambda x: (y := torch.empty_like(x), y))
wrong("fake_inplace_(Tensor(a!) x) -> Tensor(a!)", "what is argument x, its fake what shares with nothing", lambda x: x.add_(1), lambda x: torch.empty_like(x))


# Fakes that raise, of all or of one sort of input.


def for_floats(x):
    if not x.is_floating_point():
        raise TypeError("x must be floating point")
    return torch.empty_like(x)


def refuses(x):
    raise AssertionError("no fake is needed")


wrong("raises_of_integers(Tensor x) -> Tensor", "raises TypeError: x must be floating point", lambda x: x.clone(), for_floats)
wrong("raises_of_scalars(Tensor x) -> Tensor", "raises IndexError", lambda x: x.clone(), lambda x: x.new_empty((x.shape[0], *x.shape[1:])) if x.is_contiguous() else torch.empty_like(x))
wrong("raises_of_empty(Tensor x) -> Tensor", "raises ZeroDivisionError", lambda x: x.new_zeros(2), lambda x: x.new_empty(2 * x.numel() // x.numel()))
wrong("signature(Tensor x, int n) -> Tensor", "the fake does not accept the schema's arguments: too many positional arguments", lambda x, n: x.clone(), lambda x: torch.empty_like(x))
wrong("reads(Tensor x) -> Tensor", "raises", lambda x: x.new_zeros(2), lambda x: x.new_empty(2 if x.sum().item() > 0 else 2))
wrong("tuple(Tensor x) -> Tensor", "raises RuntimeError: Unable to cast", lambda x: x.clone(), lambda x: (torch.empty_like(x),))
wrong("void(Tensor(a!) x) -> ()", "raises AssertionError", lambda x: [x.zero_()].clear(), refuses)
wrong("one_of_two(Tensor x) -> (Tensor, Tensor)", "and the schema 2", lambda x: (x + 1, x + 2), lambda x: (torch.empty_like(x),))


# What is left of an argument that is written.


def resizes(x, out):
    out.resize_(x.numel() + 1)


wrong("kernel_resizes(Tensor x, Tensor(a!) out) -> ()", "the kernel left sizes", resizes, lambda x, out: None)
wrong("fake_resizes(Tensor x, Tensor(a!) out) -> ()", "the kernel left sizes", lambda x, out: [out.zero_()].clear(), resizes)


def unbacked(x):
    size = torch.library.get_ctx().new_dynamic_size(min=1000)
    return x.new_empty(size)


wrong("too_many(Tensor x) -> Tensor", "sizes", lambda x: x.masked_select(x != 0), unbacked)


@torch.library.custom_op("fakes::custom", mutates_args=())
def custom(x: Tensor, dim: int = 0) -> Tensor:
    return x.unsqueeze(0).clone()


@custom.register_fake
def _(x, dim=0):
    return torch.empty_like(x)


EXPECTED["fakes::custom"] = "sizes"


@torch.library.custom_op("fakes::custom_writes", mutates_args={"out"})
def custom_writes(x: Tensor, out: Tensor) -> Tensor:
    out.zero_()
    return x.to(torch.float64, copy=True)


@torch.library.register_fake("fakes::custom_writes")
def _(x, out):
    return torch.empty_like(x)


EXPECTED["fakes::custom_writes"] = "dtype"

define.define("meta_key(Tensor x) -> Tensor")
define.impl("meta_key", lambda x: x.clone(), "CPU")
define.impl("meta_key", lambda x: x.new_empty(x.shape, dtype=torch.float16), "Meta")
EXPECTED["fakes::meta_key"] = "dtype"

wrong("fake_reshapes(Tensor x) -> Tensor", "its fake leaves x with other sizes or strides than before", lambda x: x.new_zeros(x.shape), lambda x: [x.new_empty(x.shape), x.unsqueeze_(0)][0])
right("fake_reshapes_its_own(Tensor x) -> Tensor", lambda x: x.new_zeros(x.shape).unsqueeze(0), lambda x: x.new_empty(x.shape).unsqueeze_(0))

right("longer(Tensor x, Tensor y) -> Tensor", lambda x, y: x.new_zeros(max(x.numel(), y.numel())), lambda x, y: x.new_empty(torch.sym_max(x.numel(), y.numel())))

# Fakes that fail where sizes are symbols.

wrong("only_numbers(Tensor x) -> Tensor", "its fake under symbolic sizes raises TypeError", lambda x: x.new_zeros(x.shape), lambda x: x.new_empty(x.shape if all({0: 1}.get(n, 1) for n in x.shape) else ()))
wrong("other_for_symbols(Tensor x) -> Tensor", "its fake under symbolic sizes returns other dtypes", lambda x: x.new_zeros(x.shape), lambda x: x.new_empty(x.shape, dtype=x.dtype if all(isinstance(n, int) for n in x.shape) else torch.bool))
wrong("size_for_symbols(Tensor x) -> Tensor", "its fake under symbolic sizes returns the size", lambda x: x.new_zeros(x.shape), lambda x: x.new_empty([n if isinstance(n, int) else n + 1 for n in x.shape]))

# Fakes that make numbers of symbolic sizes.

wrong("number(Tensor x) -> Tensor", "sets the guard x.shape[0] == ", lambda x: x.new_zeros(x.shape), lambda x: x.new_empty([int(n) for n in x.shape]))
wrong("threshold(Tensor x) -> Tensor", "sets the guard x.shape[0]", lambda x: x.new_zeros(x.shape), lambda x: x.new_zeros(x.shape) if x.numel() > 5 else x.new_empty(x.shape))
wrong("eight(Tensor x) -> Tensor", "sets the guard x.shape[0] != 8", lambda x: x.new_zeros(x.shape), lambda x: x.new_empty(x.shape) if 8 in x.shape[:1] else x.new_empty(tuple(x.shape)))
wrong("aligned(Tensor x) -> Tensor", "sets the guard Mod(x.shape[0], 8) != 0", lambda x: x.new_zeros(x.shape), lambda x: x.new_zeros(x.shape) if 0 in [n % 8 for n in x.shape[:1]] else x.new_empty(x.shape))
wrong("rows(Tensor x) -> Tensor", "sets the guard x.shape[0] == ", lambda x: x.new_zeros(x.shape), lambda x: torch.stack([x.new_empty(x.shape[1:]) for _ in x]) if x.dim() and x.numel() else x.new_empty(x.shape))

# Fakes that are right.


def nonzero(x):
    size = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty(size, dtype=torch.long)


right("adds(Tensor x, Tensor y, *, Tensor(a!) out) -> Tensor(a!)", lambda x, y, *, out: torch.add(x, y, out=out), None, key="CompositeExplicitAutograd")  # whose own fake returns other strides
right("rolls(Tensor x) -> Tensor", rolled, rolled)  # whose own fake returns other strides
right("clone(Tensor x) -> Tensor", lambda x: x.clone(), lambda x: torch.empty_like(x))
right("view(Tensor(a) x) -> Tensor(a)", lambda x: x.view_as(x), lambda x: x.view_as(x))
right("add_(Tensor(a!) x) -> Tensor(a!)", lambda x: x.add_(1), lambda x: x)
right("void(Tensor(a!) x) -> ()", lambda x: [x.zero_()].clear(), None)
right("dynamic(Tensor x) -> Tensor", lambda x: x.flatten().nonzero().flatten().contiguous(), nonzero)
right("strides_of_one(Tensor x) -> Tensor", lambda x: x.new_empty_strided((1, 3), (7, 1)).zero_(), lambda x: x.new_empty(1, 3))
right("empty(Tensor x) -> Tensor", lambda x: x.new_empty_strided((0, 3), (5, 9)).zero_(), lambda x: x.new_empty(0, 3))
right("split(Tensor x) -> Tensor[]", lambda x: [x.clone() for _ in range(3)], lambda x: [torch.empty_like(x) for _ in range(3)])
right("optional(Tensor x, Tensor? bias=None) -> Tensor", lambda x, bias=None: x.clone(), lambda x, bias=None: torch.empty_like(x))
right("promotes(Tensor x) -> Tensor", lambda x: x * 1.5, lambda x: x * 1.5)
right("convolves(Tensor x, Tensor w) -> Tensor", lambda x, w: torch.conv2d(x, w).to(x.dtype).contiguous(), lambda x, w: x.new_empty(torch.conv2d(x, w).shape))  # whose own fake refuses dtypes that differ
wrong("divides_rows(Tensor x, Tensor y) -> Tensor", "sizes", lambda x, y: torch.div(x, y), lambda x, y: torch.div(x, y).unsqueeze(0))
right("divides(Tensor x, Tensor y) -> Tensor", lambda x, y: torch.div(x, y), lambda x, y: torch.div(x, y))  # whose own fake returns another dtype under symbolic sizes in PyTorch 2.6
right("composite(Tensor x) -> Tensor", lambda x: x + 1, None, key="CompositeImplicitAutograd")


right("resizes(Tensor x, Tensor(a!) out) -> ()", resizes, resizes)
right("unnamed(Tensor x, Tensor! out) -> ()", lambda x, out: [out.zero_()].clear(), lambda x, out: None)


# Those that compute with symbols, or ask for what the kernel asks for.


def checks(x):
    torch._check(x.numel() < 1 << 20)
    return x.new_empty(x.shape)


def even(x):
    if x.numel() % 2:
        raise ValueError("the number of elements must be even")
    return x.new_zeros(x.numel() // 2, 2)


def built_for(x):
    if x.dim() and x.shape[-1] not in (2, 3, 4, 6):
        raise ValueError("x must have 2, 3, 4 or 6 columns")
    return x.new_zeros(x.shape)


def alike(x, y):
    if x.shape != y.shape:
        raise ValueError("x and y must be of one shape")
    return x.new_zeros(y.shape)


right("checks(Tensor x) -> Tensor", lambda x: x.new_zeros(x.shape), checks)
right("pads(Tensor x) -> Tensor", lambda x: x.new_zeros((x.numel() + 7) // 8 * 8), lambda x: x.new_empty((x.numel() + 7) // 8 * 8))
right("even(Tensor x) -> Tensor", even, even)
right("narrows(Tensor x) -> Tensor", lambda x: x.narrow_copy(0, 0, 1).contiguous(), lambda x: x.narrow_copy(0, 0, 1).contiguous())  # of which C++ knows numbers alone
right("built_for(Tensor x) -> Tensor", built_for, built_for)
right("alike(Tensor x, Tensor y) -> Tensor", alike, alike)
right("sums(Tensor x, Tensor y) -> Tensor", lambda x, y: x + y, lambda x, y: x + y)
right("rows(Tensor x) -> Tensor[]", lambda x: [r.clone(memory_format=torch.contiguous_format) for r in x] if x.dim() and x.numel() else [x.new_zeros(2)], lambda x: [r.new_empty(r.shape) for r in x] if x.dim() and x.numel() else [x.new_empty(2)])
right("folds(Tensor x) -> Tensor", lambda x: x.reshape(-1, 1).clone(memory_format=torch.contiguous_format), lambda x: x.new_empty(x.reshape(-1, 1).shape))
right("halves(Tensor x) -> Tensor", lambda x: x.new_zeros(2, x.numel() // 2), lambda x: x.new_empty(x.new_empty(2 * (x.numel() // 2)).reshape(2, -1).shape))
right("product(Tensor x) -> Tensor", lambda x: x.flatten().outer(x.flatten()), lambda x: x.new_empty(x.numel(), x.numel()))


def positive(x):
    if x.dim() != 2:
        raise ValueError("x must have 2 dimensions")
    return x.new_empty(x.shape[0], x.shape[0])


right("refuses(Tensor x) -> Tensor", lambda x: (x.new_zeros(x.shape[0], x.shape[0]) if x.dim() == 2 else x[1, 2, 3, 4, 5, 6, 7, 8]), positive)


@torch.library.custom_op("right::custom", mutates_args=())
def right_custom(x: Tensor, scale: float = 2.0) -> Tensor:
    return x * scale


@right_custom.register_fake
def _(x, scale=2.0):
    return x * scale


@torch.library.custom_op("right::out", mutates_args={"out"})
def right_out(x: Tensor, out: Tensor) -> None:
    out.copy_(x.sum())


# One has no fake: a note.

healthy.define("missing(Tensor x) -> Tensor")
healthy.impl("missing", lambda x: x.clone(), "CPU")
